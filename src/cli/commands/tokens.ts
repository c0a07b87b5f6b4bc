import { GLOBAL_ABILITIES } from '../../contract/records.ts'
import { LIBRARY_RIGHTS } from '../../embedded/access/grant.ts'
import type { TokenListing } from '../../embedded/access/manage-tokens.ts'
import { UsageError } from '../../foundation/errors.ts'
import { escapeText } from '../../foundation/text/safe-text.ts'
import { formatDay, isoTime } from '../../foundation/text/times.ts'
import { MAX_DURATION_TEXT, parseDuration } from '../../foundation/text/units.ts'
import { defineCommand } from '../command.ts'

/** A token without rights is refused, because the user would notice only later that it is of no use. */
const NO_RIGHTS =
  'Cannot create a token without rights: name what it may do, such as --access read --access resource.create --access update, or --ability library.create'

export const createCommand = defineCommand({
  description:
    'Prints the token, which cannot be shown again. It works at once, also in a running server. Give at least one right: --access or --ability.',
  positionals: { name: { type: 'string', required: true, describe: 'Name of the token' } },
  options: {
    access: {
      type: 'string',
      array: true,
      choices: LIBRARY_RIGHTS,
      placeholder: 'RIGHT',
      describe: 'A right on libraries; may be given several times',
    },
    library: {
      type: 'string',
      array: true,
      describe: 'Identifier or exact name of a library for the rights; by default all libraries, also later ones',
    },
    ability: {
      type: 'string',
      array: true,
      choices: GLOBAL_ABILITIES,
      describe: 'A global ability; may be given several times',
    },
    interface: {
      type: 'string',
      array: true,
      choices: ['api', 'mcp'],
      describe: 'Interface at which the token may be used; api by default',
    },
    expires: {
      type: 'string',
      placeholder: 'DURATION',
      default: '90d',
      describe: 'How long it is valid, such as 30d; never means until it is revoked',
    },
  },
  settingFlags: ['data-dir'],
  examples: [
    ['serve tokens create reader --access read --expires 30d', 'may read every library for a month'],
    [
      'serve tokens create laptop --library Research --access read --access resource.create --access update',
      'may mirror into one library for 90 days',
    ],
  ],
  exits: ['done', 'operator'],
  async run(context, { name, access, library, ability, expires, ...args }) {
    if (access.length + ability.length === 0) throw new UsageError('bad-usage', NO_RIGHTS)
    const { dataDir } = context.settings.service
    const { createToken } = await import('../../embedded/access/manage-tokens.ts')
    const nowMs = Date.now()
    const spec = {
      name,
      access,
      abilities: ability,
      libraries: library.length > 0 ? library : ('all' as const),
      ...(args.interface.length > 0 && { interfaces: args.interface }),
      ...(expires !== 'never' && { expiresAtMs: nowMs + readExpiry(expires) }),
    }
    const token = createToken(dataDir, spec, nowMs)
    if (context.json) context.printJson({ name, token })
    else context.print(token)
  },
})

function readExpiry(text: string): number {
  const durationMs = parseDuration(text)
  if (durationMs) return durationMs
  const expected = `a duration such as 12h or 30d, up to ${MAX_DURATION_TEXT}, or never`
  throw new UsageError('bad-usage', `Cannot use "${text}" for --expires: it must be ${expected}`)
}

export const listCommand = defineCommand({
  description: 'Only their hashes are stored, so the tokens themselves cannot be shown.',
  settingFlags: ['data-dir'],
  examples: [['serve tokens list', 'names, rights and until when they are valid']],
  exits: ['done', 'operator'],
  async run(context) {
    const { dataDir } = context.settings.service
    const { listTokens } = await import('../../embedded/access/manage-tokens.ts')
    const tokens = listTokens(dataDir)
    if (context.json) context.printJson(tokens.map(toJson))
    else context.printTable(['name', 'state', 'created', 'rights'], tokens.map(toRow))
  },
})

function toJson({ createdAtMs, expiresAtMs, revokedAtMs, ...token }: TokenListing) {
  return { ...token, createdAt: isoTime(createdAtMs), expiresAt: isoTime(expiresAtMs), revokedAt: isoTime(revokedAtMs) }
}

function toRow(token: TokenListing): string[] {
  const libraries = token.libraries.map(({ name, access }) => `${name}: ${access.join(', ')}`)
  const created = formatDay(token.createdAtMs)
  return [token.name, stateOf(token), created, [token.abilities.join(', '), ...libraries].filter(Boolean).join('; ')]
}

function stateOf({ revokedAtMs, expiresAtMs }: TokenListing): string {
  if (revokedAtMs !== null) return 'revoked'
  if (expiresAtMs === null) return 'valid for ever'
  return expiresAtMs <= Date.now() ? 'expired' : `valid until ${formatDay(expiresAtMs)}`
}

export const revokeCommand = defineCommand({
  description: 'Takes effect with the next request, also in a running server.',
  positionals: { name: { type: 'string', required: true, describe: 'Name of the token' } },
  settingFlags: ['data-dir'],
  examples: [['serve tokens revoke laptop', 'the token stops working']],
  exits: ['done', 'operator'],
  async run(context, { name }) {
    const { dataDir } = context.settings.service
    const { revokeToken } = await import('../../embedded/access/manage-tokens.ts')
    if (!revokeToken(dataDir, name, Date.now())) {
      throw new UsageError('bad-usage', `Cannot revoke "${name}": no valid token has that name`)
    }
    if (context.json) context.printJson({ revoked: name })
    else context.printMessage(`Revoked "${escapeText(name)}"`)
  },
})
