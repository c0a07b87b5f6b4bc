import { showLogs } from '../../../app/system-service/manage-system-service.ts'
import { wholeNumber } from '../../../foundation/text/bounds.ts'
import { defineCommand } from '../../command.ts'
import { SERVICE_OPTIONS, toManageInput } from './system-service-input.ts'

export const command = defineCommand({
  withoutSettings: true,
  positionals: {},
  options: {
    ...SERVICE_OPTIONS,
    lines: {
      type: 'number',
      bounds: wholeNumber(0, 1_000_000),
      alias: 'n',
      default: 50,
      describe: 'How many of the last lines',
    },
    follow: { type: 'boolean', alias: 'f', describe: 'Print new lines as they come, until stopped' },
  },
  examples: [['service logs --follow', 'the last 50 lines, then new ones as they come']],
  exits: ['done', 'failed'],
  async run(context, { system, lines, follow }) {
    const isShown = await showLogs(toManageInput(context, system), { lines, follow }, context.print)
    return isShown || context.signal.aborted ? 'done' : 'failed'
  },
})
