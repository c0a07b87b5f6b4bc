import { UsageError } from '../../../../foundation/errors.ts'
import { escapeText } from '../../../../foundation/text/safe-text.ts'
import { defineCommand } from '../../../command.ts'

export const command = defineCommand({
  description: 'Takes effect with the next request, also in a running server.',
  positionals: { name: { type: 'string', required: true, describe: 'Name of the token' } },
  options: {},
  settingFlags: ['data-dir'],
  examples: [['serve tokens revoke laptop', 'the token stops working']],
  exits: ['done', 'operator'],
  async run(context, { name }) {
    const { dataDir } = context.settings.service
    const { revokeToken } = await import('../../../../embedded/access/manage-tokens.ts')
    if (!revokeToken(dataDir, name, Date.now())) {
      throw new UsageError('bad-usage', `Cannot revoke "${name}": no valid token has that name`)
    }
    if (context.json) context.printJson({ revoked: name })
    else context.printMessage(`Revoked "${escapeText(name)}"`)
    return 'done'
  },
})
