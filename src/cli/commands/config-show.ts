import { stringify } from 'yaml'
import { settingFlags } from '../../app/settings/overrides.ts'
import type { ServiceSettings } from '../../app/settings/settings.ts'
import { escapeText } from '../../foundation/text.ts'
import { defineCommand } from '../command.ts'

export const configShowCommand = defineCommand({
  name: 'config show',
  summary: 'Show the configuration that is in force',
  description: 'Everything read and defaulted, in milliseconds and bytes. Secrets are never shown.',
  positionals: {},
  options: {},
  settingFlags: settingFlags.filter((flag) => flag !== 'state-dir' && flag !== 'log-format'),
  examples: [
    ['config show', 'as YAML'],
    ['config show --json --transfers 8', 'with a flag laid over it, as JSON'],
  ],
  exits: ['done'],
  async run(context) {
    const { service, ...settings } = context.settings
    const shown = { ...settings, service: withoutSecrets(service) }
    if (context.json) context.printJson(shown)
    else context.print(stringify(shown).trimEnd().split('\n').map(escapeText).join('\n'))
    return 'done'
  },
})

/** The arguments of a command may hold a secret too. */
function withoutSecrets(service: ServiceSettings) {
  if (service.kind === 'embedded') return service
  const { token, tokenFile, tokenCommand, ...rest } = service
  return {
    ...rest,
    ...(token !== undefined && { token: '(set)' }),
    ...(tokenFile !== undefined && { tokenFile }),
    ...(tokenCommand && { tokenCommand: `${tokenCommand[0]} …` }),
  }
}
