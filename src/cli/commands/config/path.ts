import { findConfigFile } from '../../../app/settings/config-file/find-config-file.ts'
import { defineCommand } from '../../command.ts'

export const command = defineCommand({
  description:
    'Looked for in --config, SHELFD_CONFIG, $XDG_CONFIG_HOME/shelfd/config.yaml and /etc/shelfd/config.yaml.',
  withoutSettings: true,
  positionals: {},
  options: {},
  examples: [['config path', 'the file in force; nothing when there is none']],
  exits: ['done'],
  async run(context) {
    const file = findConfigFile(context.config, context.io)
    if (context.json) context.printJson({ path: file ?? null })
    else if (file === undefined)
      context.printMessage('No configuration file: the embedded library with its defaults is in force')
    else context.print(file)
    return 'done'
  },
})
