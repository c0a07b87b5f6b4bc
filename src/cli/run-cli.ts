import type { ReadTextFile } from '../app/files/private-files.ts'
import type { Settings } from '../app/settings/settings.ts'
import { keepMemorySmall } from '../app/tune-process.ts'
import { InterruptedError, messageOf, OperatorError, ShelfdError } from '../foundation/errors.ts'
import { escapeLines, terminalSafeJson } from '../foundation/text/safe-text.ts'
import { version } from '../foundation/version.ts'
import type { Command } from './command.ts'
import type { GlobalFlags } from './context.ts'
import { EXIT_CODES, exitCodeOf } from './exit-codes.ts'
import { COMPLETION_REQUEST, flagForWord } from './global-options.ts'
import { type FoundCommand, findCommand } from './parser/find-command.ts'
import type { CommandLine } from './parser/read-command-line.ts'
import { reportError, type Shown, typedColor, typedLogFormat, typedValue } from './report-error.ts'
import { type CliIo, columnsOf } from './terminal/cli-io.ts'

/** The only place that prints errors. */
export async function runCli(argv: readonly string[], io: CliIo): Promise<number> {
  const shown: Shown = {
    commandName: undefined,
    withStack: false,
    logFormat: typedLogFormat(argv, io.env),
    color: typedColor(argv),
    redact: (text) => text,
  }
  // Node itself would print the error without redacting secrets.
  io.onCrash?.(async (error) => {
    await reportError(error, io, { ...shown, withStack: !(error instanceof ShelfdError) })
    return exitCodeOf(error)
  })
  try {
    return await dispatch(flagForWord(argv), io, shown)
  } catch (error) {
    const met = firstOf(error)
    const reported = io.signal.aborted && !(met instanceof ShelfdError) ? new InterruptedError() : explain(met)
    await reportError(reported, io, shown)
    return exitCodeOf(reported)
  }
}

function explain(error: unknown): unknown {
  const text = messageOf(error)
  if (error instanceof ShelfdError || !/\bE[MN]FILE\b|too many open files/i.test(text)) return error
  const todo = 'raise that limit ("ulimit -n"), then run again'
  return new OperatorError('too-many-open-files', `Cannot continue: no more files may be opened (${text}); ${todo}`, {
    cause: error,
  })
}

function firstOf(error: unknown): unknown {
  return error instanceof SuppressedError ? firstOf(error.suppressed) : error
}

async function dispatch(argv: readonly string[], io: CliIo, shown: Shown): Promise<number> {
  if (argv[0] === COMPLETION_REQUEST) return complete(argv.slice(1), io)
  if (asksForOneOf(argv, '--version', '-V')) return printText(io, `${await describeVersion(argv, io)}\n`)
  const found = findCommand(argv)
  shown.commandName = found.entry?.name ?? (found.path.join(' ') || undefined)
  const command = await found.entry?.load()
  const asksForHelp = asksForOneOf(argv, '--help', '-h') || (found.path.length > 0 && !command)
  if (asksForHelp && !found.isMistyped) return printText(io, await helpOf(found, command, io))
  const { readCommandLine } = await import('./parser/read-command-line.ts')
  const read = await readCommandLine(found, command)
  if (command && read) return runCommand(command, read, io, shown)
  io.stderr.write(await helpOf(found, command, io))
  return EXIT_CODES.usage.code
}

/** With --json also what runs here and where its files are. */
async function describeVersion(argv: readonly string[], { env, cwd, home }: CliIo): Promise<string> {
  if (!asksForOneOf(argv, '--json')) return version
  const { describeProgram } = await import('../app/describe-program.ts')
  return terminalSafeJson(describeProgram({ env, cwd, home }, typedValue(argv, '--config')))
}

async function complete(words: readonly string[], io: CliIo): Promise<number> {
  const { listCompletions } = await import('./parser/complete.ts')
  const lines = await listCompletions(words, io)
  return printText(io, lines.map((line) => `${escapeLines(line)}\n`).join(''))
}

async function helpOf(found: FoundCommand, command: Command | undefined, io: CliIo): Promise<string> {
  const { renderHelp } = await import('./parser/render-help.ts')
  const help = renderHelp(found, command, {
    columns: columnsOf(io),
    isWhole: found.path.length === 0 || found.argv.includes('--all'),
  })
  // In each line it would push the meanings aside.
  const typed = io.asTyped?.('shelfd sync').replace(/ sync$/, '')
  return typed === undefined ? help : `${help}\nIn this checkout, type "${typed}" for "shelfd".\n`
}

async function runCommand(command: Command, { flags, args }: CommandLine, io: CliIo, shown: Shown): Promise<number> {
  const { createContext } = await import('./context.ts')
  const settings = command.withoutSettings ? withoutSettings : await loadSettings(flags, io, shown)
  const context = createContext(io, flags, settings)
  shown.redact = context.redactor.redact
  shown.withStack = flags.verbosity >= 2
  io.signal.throwIfAborted()
  keepMemorySmall()
  try {
    return EXIT_CODES[(await command.run(context, args)) ?? 'done'].code
  } finally {
    context.endWait()
  }
}

type SettingsReader = (readFile?: ReadTextFile) => Settings

/** The reader of settings takes longer to load than most commands run. */
async function loadSettings(flags: GlobalFlags, io: CliIo, shown: Shown): Promise<SettingsReader> {
  const { readSettings } = await import('../app/settings/read-settings.ts')
  const { env, cwd, home } = io
  return (readFile) => {
    const surroundings = { env, cwd, home, ...(readFile && { readFile }) }
    const settings = readSettings({ flags: { ...flags.settingFlags, config: flags.config }, ...surroundings })
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
