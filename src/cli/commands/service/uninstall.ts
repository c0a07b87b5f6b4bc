import { uninstallSystemService } from '../../../app/system-service/manage-system-service.ts'
import { escapeText } from '../../../foundation/text/safe-text.ts'
import { defineCommand } from '../../command.ts'
import { SERVICE_OPTIONS, toManageInput } from './system-service-input.ts'

export const command = defineCommand({
  description: 'The state, the configuration and the libraries stay as they are.',
  withoutSettings: true,
  positionals: {},
  options: SERVICE_OPTIONS,
  examples: [['service uninstall', 'the state stays, so nothing is sent twice later']],
  exits: ['done', 'failed'],
  async run(context, { system }) {
    const done = await uninstallSystemService(toManageInput(context, system))
    if (context.json) context.printJson(done ?? { file: null, ran: [] })
    else if (!done) context.printMessage('Nothing to remove: no service is installed')
    else {
      for (const line of done.ran) context.print(`Ran     ${escapeText(line)}`)
      context.print(`Removed ${escapeText(done.file)}`)
    }
    return 'done'
  },
})
