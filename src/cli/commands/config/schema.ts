import { configJsonSchema } from '../../../app/settings/schema/json-schema.ts'
import { defineCommand } from '../../command.ts'

export const command = defineCommand({
  withoutSettings: true,
  positionals: {},
  options: {},
  examples: [['config schema > config.schema.json', 'for editors that check YAML files']],
  exits: ['done'],
  async run(context) {
    context.print(configJsonSchema().trimEnd())
    return 'done'
  },
})
