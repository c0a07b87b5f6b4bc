import { switchService } from '../../../app/service-manager/manage-service.ts'
import { defineCommand } from '../../command.ts'
import { SERVICE_OPTIONS, toManageInput } from './service-input.ts'

export const command = defineCommand({
  withoutSettings: true,
  positionals: {},
  options: SERVICE_OPTIONS,
  examples: [['service start', 'returns when it is ready']],
  exits: ['done', 'failed'],
  async run(context, { system }) {
    await switchService(toManageInput(context, system), 'start')
    return 'done'
  },
})
