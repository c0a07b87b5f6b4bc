import { showLogs } from '../../../app/system-service/manage-system-service.ts'
import { UsageError } from '../../../foundation/errors.ts'
import { defineCommand } from '../../command.ts'
import { SERVICE_OPTIONS, toManageInput } from './system-service-input.ts'

export const command = defineCommand({
  withoutSettings: true,
  positionals: {},
  options: {
    ...SERVICE_OPTIONS,
    lines: { type: 'number', alias: 'n', default: 50, describe: 'How many of the last lines' },
    follow: { type: 'boolean', alias: 'f', describe: 'Print new lines as they come, until stopped' },
  },
  examples: [['service logs --follow', 'the last 50 lines, then new ones as they come']],
  exits: ['done', 'failed'],
  async run(context, { system, lines, follow }) {
    if (!Number.isInteger(lines) || lines < 0) {
      throw new UsageError('bad-usage', `Cannot show ${lines} lines: --lines must be a whole number`)
    }
    const isShown = await showLogs(toManageInput(context, system), { lines, follow }, context.print)
    return isShown || context.signal.aborted ? 'done' : 'failed'
  },
})
