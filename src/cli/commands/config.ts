import { reloadDaemon } from '../../app/ask-daemon.ts'
import { readTextFile, rewriteFile } from '../../app/files/private-files.ts'
import { chooseForDaemon } from '../../app/mirrors/choose-mirrors.ts'
import { findUnusableHooks } from '../../app/run-hooks.ts'
import { configCandidates, findConfigFile } from '../../app/settings/config-paths.ts'
import { asIfWritten, asPrivateFile } from '../../app/settings/draft.ts'
import {
  readSettingPath,
  readValues,
  type SettingPath,
  withoutSetting,
  withSetting,
} from '../../app/settings/edit-file.ts'
import type { Explained, ExplainedSection } from '../../app/settings/explain-settings.ts'
import { settingFlags } from '../../app/settings/overrides.ts'
import { readSettings } from '../../app/settings/read-settings.ts'
import type { Settings } from '../../app/settings/settings.ts'
import { describeIfUnknown } from '../../app/settings/settings-problems.ts'
import { UsageError } from '../../foundation/errors.ts'
import { counted, escapeText } from '../../foundation/text/safe-text.ts'
import { defineCommand } from '../command.ts'
import type { CommandContext } from '../context.ts'
import { renderConfigYaml } from '../render/config-yaml.ts'

/** The setting flags, without those that every command has. */
const SETTING_FLAGS = settingFlags.filter((flag) => flag !== 'state-dir' && flag !== 'log-format')

export const showCommand = defineCommand({
  description: [
    'Prints every setting, configured or default, in the form of a configuration file. A comment after each value names its origin:',
    'FILE:LINE, a flag, a variable or default; with --json, "origins" does that. Secrets are never shown.',
  ].join('\n'),
  settingFlags: SETTING_FLAGS,
  examples: [
    ['config show', 'as YAML'],
    ['config show --json --transfers 8', 'as JSON, with this flag in force'],
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

function originsOf({ entries }: ExplainedSection): Readonly<Record<string, unknown>> {
  return Object.fromEntries(entries.map(([key, explained]) => [key, shownOrigin(explained)]))
}

function shownOrigin(explained: Explained): unknown {
  if (explained.kind === 'section') return originsOf(explained)
  return explained.kind === 'list' ? explained.items.map(originsOf) : explained.origin
}

export const checkCommand = defineCommand({
  description: [
    'Checks the configuration as every command and the daemon do: keys, values, and directories inside of each other. If something is',
    'wrong, it exits 2 and prints the file, the line and what was expected. It also names commands before and after a run that cannot',
    'be run here now; this may be intended, so it still exits 0. "doctor" checks more: directories, the service, its certificate.',
  ].join('\n'),
  settingFlags: SETTING_FLAGS,
  examples: [['config check', 'before the daemon reads it again']],
  exits: ['done'],
  async run(context) {
    const { settings, io } = context
    chooseForDaemon(settings, { storedMirrors: [], home: io.home })
    const { configFile = null, mirrors, service } = settings
    const warnings = findUnusableHooks(settings, io.env)
    if (context.json) {
      context.printJson({ path: configFile, mirrors: mirrors.map(({ name }) => name), warnings })
      return
    }
    const into = service.kind === 'configured' ? service.origin : 'the library on this computer'
    const file =
      configFile === null ? 'No configuration file, the defaults hold' : `${escapeText(configFile)}: in order`
    const except = warnings.length === 0 ? '' : `, except for ${counted(warnings.length, 'command')}`
    context.printText(`${file}${except}; ${counted(mirrors.length, 'mirror')} into ${into}`)
    for (const { key, message } of warnings) context.printText(`  ! ${escapeText(`${key}: ${message}`)}`)
  },
})

const KEY = {
  type: 'string',
  required: true,
  describe: 'Key of the setting: limits.newPerRun, mirrors.NAME.settle, or mirrors[0].settle',
} as const

export const getCommand = defineCommand({
  description: [
    'Prints the value in force, configured or default; a list is printed with one item on each line, and without a value nothing is',
    'printed. Secrets are never shown.',
  ].join('\n'),
  settingFlags: SETTING_FLAGS,
  positionals: { key: KEY },
  examples: [
    ['config get limits.newPerRun', 'how many new files a run sends'],
    ['config get mirrors.papers --json', 'all settings of a mirror, for scripts'],
  ],
  exits: ['done'],
  async run(context, { key }) {
    const path = readSettingPath(key, namesOf(context.settings))
    const found = valueAtPath(context.explainSettings().root, path)
    if (context.json) context.printJson(found === undefined ? null : shownValue(found))
    else if (found === undefined) context.printMessage(`"${escapeText(key)}" is not set`)
    else if (found.kind === 'section') context.print(renderConfigYaml(found))
    else context.print([shownValue(found)].flat().map(toText).join('\n'))
  },
})

export const setCommand = defineCommand({
  description: [
    'Writes one setting into the configuration file and keeps its comments; creates the file if there is none. Nothing is written if',
    'the configuration would be wrong with the setting. A running daemon reads the file at once.',
  ].join('\n'),
  positionals: {
    key: KEY,
    value: { type: 'string', required: true, describe: 'Value, as in the file; a list as ["*.bak", "/old/"]' },
  },
  examples: [
    ['config set limits.newPerRun 500', 'send at most 500 new files in a run'],
    [`config set mirrors.papers.ignore '["*.bak"]'`, 'leave out further files'],
  ],
  exits: ['done', 'failed'],
  async run(context, { key, value }) {
    const { settings, io } = context
    const file = settings.configFile ?? configCandidates(context.config, io)[0]?.file ?? ''
    const drafts = (source: string, path: SettingPath) =>
      readValues(value).map((each) => withSetting(source, path, each))
    await rewrite(context, { key, file, drafts, verb: 'set', message: `Wrote "${key}" into ${file}` })
  },
})

export const unsetCommand = defineCommand({
  description: [
    'Removes one setting from the configuration file and keeps its comments; the default holds again. Nothing is written if the',
    'configuration would be wrong without the setting. A running daemon reads the file at once.',
  ].join('\n'),
  positionals: { key: KEY },
  examples: [
    ['config unset limits.newPerRun', 'the default limit of new files'],
    ['config unset mirrors.papers.schedule', 'the mirror has no schedule of its own any more'],
  ],
  exits: ['done', 'failed'],
  async run(context, { key }) {
    const file = context.settings.configFile
    if (file === undefined)
      throw new UsageError('bad-usage', 'There is no configuration file: every setting has its default')
    const drafts = (source: string, path: SettingPath) => {
      const draft = withoutSetting(source, path)
      if (draft === undefined) throw new UsageError('bad-usage', `"${key}" is not set in "${file}"`)
      return [draft]
    }
    await rewrite(context, { key, file, drafts, verb: 'unset', message: `Removed "${key}" from ${file}` })
  },
})

interface Change {
  readonly key: string
  readonly file: string
  /** Texts of the new file, best first; the first one that is a valid configuration is written. */
  drafts(source: string, path: SettingPath): readonly string[]
  readonly verb: 'set' | 'unset'
  /** Printed once the file is written. */
  readonly message: string
}

/** Writes the configuration file, and has a running daemon reload it. */
async function rewrite(context: CommandContext, { key, file, drafts, verb, message }: Change): Promise<void> {
  const { settings, io } = context
  const path = readSettingPath(key, namesOf(settings))
  const found = readTextFile(file)
  const before = found ?? asPrivateFile(file, '')
  const flags = { ...context.settingFlags, config: file }
  const { text, after } = firstValid(drafts(before.text, path), (draft) => {
    try {
      return readSettings({ ...io, flags, readFile: asIfWritten(file, before, draft) })
    } catch (error) {
      throw errorOfChange(error, { key, file, verb })
    }
  })
  chooseForDaemon(after, { storedMirrors: [], home: io.home })
  rewriteFile(file, text, found?.text)
  context.printMessage(escapeText(message))
  const reloaded = await reloadDaemon(after.stateDir)
  if (reloaded !== undefined) context.printMessage(reloaded)
}

function toText(value: unknown): string {
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

/** Returns the first text that is a valid configuration; throws the error of the first one if none is. */
function firstValid(texts: readonly string[], read: (text: string) => Settings) {
  let failure: unknown
  for (const text of texts) {
    try {
      return { text, after: read(text) }
    } catch (error) {
      failure ??= error
    }
  }
  throw failure
}

/** Returns the error for a change that makes the configuration wrong; it names no lines, because the file was not written. */
function errorOfChange(error: unknown, { key, file, verb }: Pick<Change, 'key' | 'file' | 'verb'>): unknown {
  if (!(error instanceof UsageError) || error.code !== 'bad-configuration') return error
  const [, problems = error.message] = error.message.split(/^Cannot read the configuration: /)
  const withoutLines = problems.split('\n').map((line) => {
    return line.startsWith(`${file}:`) ? line.slice(line.indexOf(': ', file.length) + 2) : line
  })
  const text = withoutLines.join('\n').replace(`"${key}" must be`, 'it must be')
  return new UsageError('bad-usage', `Cannot ${verb} "${key}": ${text}; nothing was written`, { cause: error })
}

function namesOf({ mirrors }: Settings): string[] {
  return mirrors.map(({ name }) => name)
}

/** Returns the setting at a path; undefined if it is not set. Throws UsageError for an unknown key. */
function valueAtPath(root: ExplainedSection, path: SettingPath): Explained | undefined {
  let found: Explained | undefined = root
  for (const [depth, step] of path.entries()) {
    if (typeof step === 'number') {
      found = found?.kind === 'list' ? found.items[step] : undefined
      continue
    }
    const unknown = describeIfUnknown(path.slice(0, depth), step)
    if (unknown !== undefined) throw new UsageError('bad-configuration', `Cannot print the setting: ${unknown}`)
    found = found?.kind === 'section' ? found.entries.find(([key]) => key === step)?.[1] : undefined
  }
  return found
}

export const pathCommand = defineCommand({
  description:
    'shelfd reads the first of these that exists: --config, SHELFD_CONFIG, $XDG_CONFIG_HOME/shelfd/config.yaml, /etc/shelfd/config.yaml.',
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
