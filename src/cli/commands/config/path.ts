import { findConfigFile } from '../../../app/settings/config-file/find-config-file.ts'
import { defineCommand } from '../../command.ts'

export const command = defineCommand({
  description:
    'Reads the first that exists: --config, SHELFD_CONFIG, $XDG_CONFIG_HOME/shelfd/config.yaml, /etc/shelfd/config.yaml.',
  withoutSettings: true,
  positionals: {},
  options: {},
  examples: [['config path', 'the file that is read; prints nothing when there is none']],
  exits: ['done'],
  async run(context) {
    const file = findConfigFile(context.config, context.io)
    if (context.json) context.printJson({ path: file ?? null })
    else if (file === undefined)
      context.printMessage('There is no configuration file: shelfd uses the embedded library and the default settings')
    else context.print(file)
    return 'done'
  },
})
