import { isSettingFlag, OVERRIDES, type SettingFlag } from '../app/settings/overrides.ts'
import type { ArgumentTable, Command } from './command.ts'
import { COLOR_CHOICES } from './terminal/palette.ts'

/** Options that are accepted before and after the command's name. */
export const GLOBAL_OPTIONS = {
  config: { type: 'string', describe: 'Configuration file', placeholder: 'FILE' },
  'state-dir': { type: 'string', describe: OVERRIDES['state-dir'].describe, placeholder: 'DIR' },
  json: { type: 'boolean', describe: 'Print data as JSON' },
  quiet: { type: 'boolean', alias: 'q', describe: 'Log errors only' },
  verbose: {
    type: 'count',
    alias: 'v',
    describe: 'Log more, and name each file that is sent; twice also shows the traces of errors',
  },
  'log-format': { type: 'string', describe: OVERRIDES['log-format'].describe, choices: ['text', 'json'] },
  color: { type: 'string', describe: 'Use colours in text', choices: COLOR_CHOICES, default: 'auto' },
  version: { type: 'boolean', alias: 'V', describe: 'Print the version' },
  help: { type: 'boolean', alias: 'h', describe: 'Print this help' },
} as const satisfies ArgumentTable

export const CONNECTION_FLAGS = ['data-dir', 'service-url', 'ca-file'] as const satisfies readonly SettingFlag[]

/** The setting flags and exits of most commands that ask the service. */
export const ASKS_SERVICE = {
  settingFlags: CONNECTION_FLAGS,
  exits: ['done', 'failed', 'temporary', 'refused'],
} as const

/** The first argument with which the scripts of `shelfd completion` call the program; the typed words follow. */
export const COMPLETION_REQUEST = '--get-completions'

const PLACEHOLDERS: Partial<Record<SettingFlag, string>> = {
  'data-dir': 'DIR',
  'service-url': 'URL',
  'ca-file': 'FILE',
  'client-cert-file': 'FILE',
  'client-key-file': 'FILE',
  'client-passphrase-file': 'FILE',
  'health-listen': 'ADDRESS',
  'library-listen': 'ADDRESS',
  embedder: 'KIND',
  bwlimit: 'SIZE',
  'max-new-bytes': 'SIZE',
  'retry-for': 'DURATION',
  'first-poll': 'DURATION',
  'ingestion-deadline': 'DURATION',
}

/** Returns the command's own flags, and its flags for settings. */
export function optionsOf({ options, settingFlags = [] }: Command): ArgumentTable {
  return { ...options, ...settingOptions(settingFlags) }
}

function settingOptions(flags: readonly SettingFlag[]): ArgumentTable {
  const options = flags.map((flag) => {
    const { describe } = OVERRIDES[flag]
    return [flag, { type: 'string', describe, placeholder: PLACEHOLDERS[flag] ?? 'N' }] as const
  })
  return Object.fromEntries(options)
}

/** Turns `help sync` into `--help sync` and `version` into `--version`. */
export function flagForWord(argv: readonly string[]): readonly string[] {
  const position = positionsOfWords(argv)[0]
  const word = position === undefined ? undefined : argv[position]
  if (word !== 'help' && word !== 'version') return argv
  return [`--${word}`, ...argv.filter((_, index) => index !== position)]
}

/** Returns the positions of the words that are neither flags nor their values, before the flags of the command are known. */
export function positionsOfWords(argv: readonly string[]): number[] {
  const positions: number[] = []
  for (let index = 0; index < argv.length; index += 1) {
    const word = argv[index] ?? ''
    if (word === '--') break
    if (!word.startsWith('-') || word === '-') positions.push(index)
    else if (isFollowedByValue(word)) index += 1
  }
  return positions
}

function isFollowedByValue(word: string): boolean {
  const flag = word.slice(2)
  return word.startsWith('--') && (['config', 'color', 'host'].includes(flag) || isSettingFlag(flag))
}
