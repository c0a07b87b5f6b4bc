import { switchSystemService } from '../../../app/system-service/manage-system-service.ts'
import { defineCommand } from '../../command.ts'
import { SERVICE_OPTIONS, toManageInput } from './system-service-input.ts'

export const command = defineCommand({
  withoutSettings: true,
  positionals: {},
  options: SERVICE_OPTIONS,
  examples: [['service start', 'returns when it is ready']],
  exits: ['done', 'failed'],
  async run(context, { system }) {
    await switchSystemService(toManageInput(context, system), 'start')
    return 'done'
  },
})
