import type { Explained, ExplainedSection } from '../../../app/settings/explain-settings.ts'
import { settingFlags } from '../../../app/settings/overrides.ts'
import { defineCommand } from '../../command.ts'
import { renderConfigYaml } from '../../render/config-yaml.ts'

export const command = defineCommand({
  description: [
    'Prints every setting, read or default, with the keys and units of the configuration file, to paste into one.',
    'A comment after each value names its origin: FILE:LINE, a flag, a variable or default; with --json see "origins".',
    'Secrets are never shown.',
  ].join('\n'),
  positionals: {},
  options: {},
  settingFlags: settingFlags.filter((flag) => flag !== 'state-dir' && flag !== 'log-format'),
  examples: [
    ['config show', 'as YAML'],
    ['config show --json --transfers 8', 'with a flag laid over it, as JSON'],
  ],
  exits: ['done'],
  async run(context) {
    const { configFile, root } = context.explainSettings()
    if (!context.json) context.print(renderConfigYaml(root))
    else context.printJson({ configFile: configFile ?? null, ...valuesOf(root), origins: originsOf(root) })
    return 'done'
  },
})

function valuesOf({ entries }: ExplainedSection): Readonly<Record<string, unknown>> {
  return Object.fromEntries(entries.map(([key, explained]) => [key, shownValue(explained)]))
}

function shownValue(explained: Explained): unknown {
  switch (explained.kind) {
    case 'section':
      return valuesOf(explained)
    case 'list':
      return explained.items.map(valuesOf)
    case 'hidden':
      return `(${explained.hint})`
    case 'value':
      return explained.value
  }
}

/** The origins, nested as the values. */
function originsOf({ entries }: ExplainedSection): Readonly<Record<string, unknown>> {
  return Object.fromEntries(entries.map(([key, explained]) => [key, shownOrigin(explained)]))
}

function shownOrigin(explained: Explained): unknown {
  if (explained.kind === 'section') return originsOf(explained)
  return explained.kind === 'list' ? explained.items.map(originsOf) : explained.origin
}
