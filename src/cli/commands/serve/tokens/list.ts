import type { TokenListing } from '../../../../embedded/access/manage-tokens.ts'
import { defineCommand } from '../../../command.ts'

export const command = defineCommand({
  description: 'Only their hashes are stored, so the tokens themselves cannot be shown.',
  positionals: {},
  options: {},
  settingFlags: ['data-dir'],
  examples: [['serve tokens list', 'names, rights and whether they are valid']],
  exits: ['done', 'operator'],
  async run(context) {
    const { dataDir } = context.settings.service
    const { listTokens } = await import('../../../../embedded/access/manage-tokens.ts')
    const tokens = listTokens(dataDir)
    if (context.json) context.printJson(tokens.map(toJson))
    else context.printTable(['name', 'state', 'created', 'rights'], tokens.map(toRow))
    return 'done'
  },
})

/** Times in ISO 8601. */
function toJson({ createdAtMs, expiresAtMs, revokedAtMs, ...token }: TokenListing) {
  const iso = (timeMs: number | null) => (timeMs === null ? null : new Date(timeMs).toISOString())
  return { ...token, createdAt: iso(createdAtMs), expiresAt: iso(expiresAtMs), revokedAt: iso(revokedAtMs) }
}

function toRow(token: TokenListing): string[] {
  const libraries = token.libraries.map(({ name, access }) => `${name}: ${access.join(', ')}`)
  const created = new Date(token.createdAtMs).toISOString().slice(0, 10)
  return [token.name, stateOf(token), created, [token.abilities.join(', '), ...libraries].filter(Boolean).join('; ')]
}

function stateOf({ revokedAtMs, expiresAtMs }: TokenListing): string {
  if (revokedAtMs !== null) return 'revoked'
  if (expiresAtMs === null) return 'valid'
  return expiresAtMs <= Date.now() ? 'expired' : `valid until ${new Date(expiresAtMs).toISOString().slice(0, 10)}`
}
