import { assertReachable, showSystemService } from '../../../app/system-service/manage-system-service.ts'
import { defineCommand } from '../../command.ts'
import { SERVICE_OPTIONS, toManageInput } from './system-service-input.ts'

export const command = defineCommand({
  description: 'Exits 1 when the daemon does not run. `shelfd status` shows what it works on.',
  withoutSettings: true,
  positionals: {},
  options: SERVICE_OPTIONS,
  examples: [['service status', 'since when it runs, and its last lines']],
  exits: ['done', 'failed'],
  async run(context, { system }) {
    const input = toManageInput(context, system)
    await assertReachable(input)
    return (await showSystemService(input, context.print)) ? 'done' : 'failed'
  },
})
