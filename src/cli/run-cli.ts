import type { Settings } from '../app/settings/settings.ts'
import { version } from '../app/version.ts'
import { InterruptedError, messageOf, OperatorError, ShelfdError } from '../foundation/errors.ts'
import { type CliIo, columnsOf } from './cli-io.ts'
import type { Command } from './command.ts'
import { commands } from './commands.ts'
import type { GlobalFlags } from './context.ts'
import { EXIT_CODES, exitCodeOf } from './exit-codes.ts'
import { findCommand } from './find-command.ts'
import { flagForWord, GLOBAL_OPTIONS } from './global-options.ts'
import { renderCommandHelp, renderCommandList } from './render/help.ts'
import { reportError, type Shown, typedLogFormat } from './report-error.ts'

/** Runs one command line (without program name) and gives its exit code; the one place where errors become text. */
export async function runCli(argv: readonly string[], io: CliIo): Promise<number> {
  const shown: Shown = {
    commandName: undefined,
    withStack: false,
    logFormat: typedLogFormat(argv, io.env),
    redact: (text) => text,
  }
  // Node would print the error as it is, secrets and all.
  io.onCrash?.((error) => reportError(error, io, { ...shown, withStack: true }))
  try {
    return await dispatch(flagForWord(argv), io, shown)
  } catch (error) {
    const met = firstOf(error)
    const reported = io.signal.aborted && !(met instanceof ShelfdError) ? new InterruptedError() : explain(met)
    await reportError(reported, io, shown)
    return exitCodeOf(reported)
  }
}

/** A lack of descriptors shows anywhere, also where a part of the program is only loaded. */
function explain(error: unknown): unknown {
  const text = messageOf(error)
  if (error instanceof ShelfdError || !/\bE[MN]FILE\b/.test(text)) return error
  const todo = 'raise that limit ("ulimit -n"), then run again'
  return new OperatorError('too-many-open-files', `Cannot go on: no more files may be opened (${text}); ${todo}`, {
    cause: error,
  })
}

/** What was met first, when closing what was open failed as well. */
function firstOf(error: unknown): unknown {
  return error instanceof SuppressedError ? firstOf(error.suppressed) : error
}

async function dispatch(argv: readonly string[], io: CliIo, shown: Shown): Promise<number> {
  if (asksForOneOf(argv, '--version', '-V')) return printText(io, `${version}\n`)
  const found = findCommand(argv, commands)
  if (found.kind === 'group') return showCommands(found.prefix, argv, io)
  shown.commandName = found.entry.name
  const command = await found.entry.load()
  if (asksForOneOf(found.rest, '--help', '-h'))
    return printText(io, renderCommandHelp(found.entry, command, columnsOf(io)))
  return runCommand(command, found.rest, io, shown)
}

/** The list is an answer when it was asked for, otherwise a reminder that a command is missing. */
async function showCommands(prefix: string, argv: readonly string[], io: CliIo): Promise<number> {
  const list = renderCommandList(commands, prefix, columnsOf(io))
  if (prefix !== '' || asksForOneOf(argv, '--help', '-h')) return printText(io, list)
  const { parseOptions } = await import('./parse-arguments.ts')
  parseOptions(argv, GLOBAL_OPTIONS)
  io.stderr.write(list)
  return EXIT_CODES.usage.code
}

async function runCommand(command: Command, rest: readonly string[], io: CliIo, shown: Shown): Promise<number> {
  const { readCommandLine } = await import('./read-command-line.ts')
  const { createContext } = await import('./context.ts')
  const { flags, args } = readCommandLine(command, rest)
  const settings = command.withoutSettings ? withoutSettings : await loadSettings(flags, io, shown)
  const context = createContext(io, flags, settings)
  shown.redact = context.redactor.redact
  shown.withStack = flags.verbosity >= 2
  io.signal.throwIfAborted()
  return EXIT_CODES[await command.run(context, args)].code
}

type SettingsReader = () => Settings

/** Loaded only for commands that need it, since checking a configuration costs more than most commands. */
async function loadSettings(flags: GlobalFlags, io: CliIo, shown: Shown): Promise<SettingsReader> {
  const { readSettings } = await import('../app/settings/read-settings.ts')
  const { env, cwd, home } = io
  return () => {
    const settings = readSettings({ flags: { ...flags.settingFlags, config: flags.config }, env, cwd, home })
    shown.logFormat = settings.logFormat
    return settings
  }
}

function withoutSettings(): never {
  throw new Error('This command has no settings')
}

function printText(io: CliIo, text: string): number {
  io.stdout.write(text)
  return EXIT_CODES.done.code
}

function asksForOneOf(argv: readonly string[], ...flags: readonly string[]): boolean {
  const end = argv.indexOf('--')
  return argv.slice(0, end === -1 ? argv.length : end).some((word) => flags.includes(word))
}
