import { findConfigFile } from '../../app/settings/config-paths.ts'
import type { Explained, ExplainedSection } from '../../app/settings/explain-settings.ts'
import { settingFlags } from '../../app/settings/overrides.ts'
import { defineCommand } from '../command.ts'
import { renderConfigYaml } from '../render/config-yaml.ts'

export const showCommand = defineCommand({
  description: [
    'Prints every setting, read or default, with the keys and units of the configuration file, to paste into one.',
    'A comment after each value names its origin: FILE:LINE, a flag, a variable or default; with --json see "origins".',
    'Secrets are never shown.',
  ].join('\n'),
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

/** Returns the origins, nested as the values. */
function originsOf({ entries }: ExplainedSection): Readonly<Record<string, unknown>> {
  return Object.fromEntries(entries.map(([key, explained]) => [key, shownOrigin(explained)]))
}

function shownOrigin(explained: Explained): unknown {
  if (explained.kind === 'section') return originsOf(explained)
  return explained.kind === 'list' ? explained.items.map(originsOf) : explained.origin
}

export const pathCommand = defineCommand({
  description:
    'Reads the first that exists: --config, SHELFD_CONFIG, $XDG_CONFIG_HOME/shelfd/config.yaml, /etc/shelfd/config.yaml.',
  withoutSettings: true,
  examples: [['config path', 'the file that is read; prints nothing when there is none']],
  exits: ['done'],
  async run(context) {
    const file = findConfigFile(context.config, context.io)
    if (context.json) context.printJson({ path: file ?? null })
    else if (file === undefined)
      context.printMessage('There is no configuration file: shelfd uses the embedded library and the default settings')
    else context.print(file)
  },
})

export const schemaCommand = defineCommand({
  withoutSettings: true,
  examples: [['config schema > config.schema.json', 'for editors that check YAML files']],
  exits: ['done'],
  async run(context) {
    const { configJsonSchema } = await import('../../app/settings/schema.ts')
    context.print(configJsonSchema().trimEnd())
  },
})
