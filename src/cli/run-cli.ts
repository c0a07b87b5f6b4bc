import type { Settings } from '../app/settings/settings.ts'
import { version } from '../app/version.ts'
import { InterruptedError, messageOf, ShelfdError } from '../foundation/errors.ts'
import { escapeText } from '../foundation/text.ts'
import type { CliIo } from './cli-io.ts'
import type { Command } from './command.ts'
import { commands } from './commands.ts'
import type { GlobalFlags } from './context.ts'
import { EXIT_CODES, exitCodeOf } from './exit-codes.ts'
import { findCommand } from './find-command.ts'
import { GLOBAL_OPTIONS } from './global-options.ts'
import { hintFor } from './hints.ts'
import { renderCommandHelp, renderCommandList } from './render/help.ts'

/** Runs one command line (without program name) and gives its exit code; the one place where errors become text. */
export async function runCli(argv: readonly string[], io: CliIo): Promise<number> {
  const shown: Shown = { commandName: undefined, withStack: false, redact: (text) => text }
  try {
    return await dispatch(argv, io, shown)
  } catch (error) {
    const reported = io.signal.aborted && !(error instanceof ShelfdError) ? new InterruptedError() : error
    report(reported, io, shown)
    return exitCodeOf(reported)
  }
}

/** What is known when an error is told. */
interface Shown {
  commandName: string | undefined
  withStack: boolean
  redact: (text: string) => string
}

async function dispatch(argv: readonly string[], io: CliIo, shown: Shown): Promise<number> {
  if (argv.includes('--version') && !argv.includes('--')) return printText(io, `${version}\n`)
  const found = findCommand(argv, commands)
  if (found.kind === 'group') return showCommands(found.prefix, argv, io)
  shown.commandName = found.entry.name
  const command = await found.entry.load()
  if (asksForHelp(found.rest)) return printText(io, renderCommandHelp(command))
  return runCommand(command, found.rest, io, shown)
}

/** The list is an answer when it was asked for, otherwise a reminder that a command is missing. */
async function showCommands(prefix: string, argv: readonly string[], io: CliIo): Promise<number> {
  const list = renderCommandList(commands, prefix)
  if (prefix !== '' || asksForHelp(argv)) return printText(io, list)
  const { parseOptions } = await import('./parse-arguments.ts')
  parseOptions(argv, GLOBAL_OPTIONS)
  io.stderr.write(list)
  return EXIT_CODES.usage.code
}

async function runCommand(command: Command, rest: readonly string[], io: CliIo, shown: Shown): Promise<number> {
  const { readCommandLine } = await import('./read-command-line.ts')
  const { createContext } = await import('./context.ts')
  const { flags, args } = readCommandLine(command, rest)
  const settings = command.withoutSettings ? withoutSettings : await loadSettings(flags, io)
  const context = createContext(io, flags, settings)
  shown.redact = context.redactor.redact
  shown.withStack = flags.verbosity >= 2
  io.signal.throwIfAborted()
  return EXIT_CODES[await command.run(context, args)].code
}

type SettingsReader = () => Settings

/** Loaded only for commands that need it, since checking a configuration costs more than most commands. */
async function loadSettings({ config, settingFlags }: GlobalFlags, io: CliIo): Promise<SettingsReader> {
  const { readSettings } = await import('../app/settings/read-settings.ts')
  const { env, cwd, home } = io
  return () => readSettings({ flags: { ...settingFlags, config }, env, cwd, home })
}

function withoutSettings(): never {
  throw new Error('This command has no settings')
}

function printText(io: CliIo, text: string): number {
  io.stdout.write(text)
  return EXIT_CODES.done.code
}

function asksForHelp(argv: readonly string[]): boolean {
  const end = argv.indexOf('--')
  return argv.slice(0, end === -1 ? argv.length : end).some((word) => word === '--help' || word === '-h')
}

function report(error: unknown, io: CliIo, { commandName, withStack, redact }: Shown): void {
  const hint = hintFor(error, commandName)
  const stack = withStack && error instanceof Error ? error.stack : undefined
  const told = [`shelfd: ${messageOf(error)}`, ...(hint ? [hint] : []), ...(stack ? [stack] : [])]
  const lines = told.join('\n').split('\n').map(escapeText)
  io.stderr.write(`${redact(lines.join('\n  '))}\n`)
}
