import { isSettingFlag } from '../app/settings/overrides.ts'
import type { Command } from './command.ts'
import type { GlobalFlags } from './context.ts'
import { GLOBAL_OPTIONS, settingOptions } from './global-options.ts'
import { assignPositionals, parseOptions } from './parse-arguments.ts'

export interface CommandLine {
  readonly flags: GlobalFlags
  readonly args: Readonly<Record<string, unknown>>
}

/** The arguments of a command by its tables; throws UsageError('bad-usage'). */
export function readCommandLine(command: Command, rest: readonly string[]): CommandLine {
  const table = { ...command.options, ...settingOptions(command.settingFlags ?? []), ...GLOBAL_OPTIONS }
  const { options, given, words } = parseOptions(rest, table)
  const settingFlags = Object.entries(given).filter(([flag]) => isSettingFlag(flag))
  return {
    flags: {
      config: given.config,
      json: options.json === true,
      quiet: options.quiet === true,
      verbosity: Number(options.verbose),
      settingFlags: Object.fromEntries(settingFlags),
    },
    args: { ...options, ...assignPositionals(words, command.positionals) },
  }
}
