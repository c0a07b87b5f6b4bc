import { GLOBAL_ABILITIES } from '../../../../contract/records.ts'
import { LIBRARY_RIGHTS } from '../../../../embedded/access/grant.ts'
import { UsageError } from '../../../../foundation/errors.ts'
import { MAX_DURATION_TEXT, parseDuration } from '../../../../foundation/text/units.ts'
import { defineCommand } from '../../../command.ts'

/** Refused, because the user would notice a token without rights only when using it. */
const NO_RIGHTS =
  'Cannot create a token without rights: name what it may do, such as --access read --access resource.create --access update, or --ability library.create'

export const command = defineCommand({
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
      describe: 'Identifier or exact name of a library the rights are for; by default all, including later ones',
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
      describe: 'Where it may be used; api by default',
    },
    expires: {
      type: 'string',
      placeholder: 'DURATION',
      describe: 'How long it is valid, such as 30d; for ever by default',
    },
  },
  settingFlags: ['data-dir'],
  examples: [
    ['serve tokens create reader --access read --expires 30d', 'may read every library for a month'],
    [
      'serve tokens create laptop --library Research --access read --access resource.create --access update',
      'may mirror into one library',
    ],
  ],
  exits: ['done', 'operator'],
  async run(context, { name, access, library, ability, expires, ...args }) {
    if (access.length + ability.length === 0) throw new UsageError('bad-usage', NO_RIGHTS)
    const { dataDir } = context.settings.service
    const { createToken } = await import('../../../../embedded/access/manage-tokens.ts')
    const nowMs = Date.now()
    const spec = {
      name,
      access,
      abilities: ability,
      libraries: library.length > 0 ? library : ('all' as const),
      ...(args.interface.length > 0 && { interfaces: args.interface }),
      ...(expires !== undefined && { expiresAtMs: nowMs + readExpiry(expires) }),
    }
    const token = createToken(dataDir, spec, nowMs)
    if (context.json) context.printJson({ name, token })
    else context.print(token)
    return 'done'
  },
})

function readExpiry(text: string): number {
  const durationMs = parseDuration(text)
  if (durationMs) return durationMs
  const expected = `a duration such as 12h or 30d, up to ${MAX_DURATION_TEXT}`
  throw new UsageError('bad-usage', `Cannot use "${text}" for --expires: it must be ${expected}`)
}
