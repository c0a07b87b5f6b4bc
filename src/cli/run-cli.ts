import type { ReadTextFile } from '../app/files/private-files.ts'
import { hintFor } from '../app/hints-and-remedies.ts'
import type { LogFormat, Settings } from '../app/settings/settings.ts'
import { keepMemorySmall } from '../app/tune-process.ts'
import { InterruptedError, messageOf, OperatorError, ShelfdError } from '../foundation/errors.ts'
import { escapeLines, escapeText, terminalSafeJson } from '../foundation/text/safe-text.ts'
import { version } from '../foundation/version.ts'
import type { Command } from './command.ts'
import type { GlobalFlags } from './context.ts'
import { EXIT_CODES, exitCodeOf } from './exit-codes.ts'
import { COMPLETION_REQUEST, flagForWord } from './global-options.ts'
import { type FoundCommand, findCommand } from './parser/find-command.ts'
import type { CommandLine } from './parser/read-command-line.ts'
import { type CliIo, columnsOf, formatterFor } from './terminal/cli-io.ts'
import { COLOR_CHOICES, type ColorChoice, paletteOf } from './terminal/palette.ts'

/** How an error is printed, as far as it is known when the error occurs. */
interface ErrorDisplay {
  io: CliIo
  commandName: string | undefined
  withStack: boolean
  logFormat: LogFormat
  readonly color: ColorChoice
  redact: (text: string) => string
}

/** Runs a command line and returns its exit code. Errors are printed here and nowhere else. */
export async function runCli(argv: readonly string[], io: CliIo): Promise<number> {
  const display: ErrorDisplay = {
    io,
    commandName: undefined,
    withStack: false,
    logFormat: typedLogFormat(argv, io.env),
    color: typedColor(argv),
    redact: (text) => text,
  }
  // Node itself would print the error without redacting secrets.
  io.onCrash?.(async (error) => {
    await reportError(error, { ...display, withStack: !(error instanceof ShelfdError) })
    return exitCodeOf(error)
  })
  try {
    return await dispatch(flagForWord(argv), io, display)
  } catch (error) {
    const first = firstErrorOf(error)
    const reported =
      io.signal.aborted && !(first instanceof ShelfdError) ? new InterruptedError() : explainFileLimit(first)
    await reportError(reported, display)
    return exitCodeOf(reported)
  }
}

/** Returns an OperatorError for an error of the limit of open files, and any other error unchanged. */
function explainFileLimit(error: unknown): unknown {
  const text = messageOf(error)
  if (error instanceof ShelfdError || !/\bE[MN]FILE\b|too many open files/i.test(text)) return error
  const todo = 'raise that limit ("ulimit -n"), then run again'
  return new OperatorError('too-many-open-files', `Cannot continue: no more files may be opened (${text}); ${todo}`, {
    cause: error,
  })
}

/** Returns the original error, without the errors of the disposal after it. */
function firstErrorOf(error: unknown): unknown {
  return error instanceof SuppressedError ? firstErrorOf(error.suppressed) : error
}

/** Writes an error to stderr: a sentence and a hint for people, or one line of a JSON log. */
export async function reportError(error: unknown, display: ErrorDisplay): Promise<void> {
  const { io } = display
  const hint = hintFor(error, display.commandName)
  const stack = display.withStack ? await stackOf(error) : undefined
  const { chooseLogFormat } = await import('../app/create-logger.ts')
  if (chooseLogFormat(display.logFormat, io.env) === 'json') return logError(error, display, { hint, stack })
  const parts = [`shelfd: ${messageOf(error)}`, ...(hint ? [hint] : []), ...(stack ? [stack] : [])]
  const lines = parts.join('\n').split('\n').map(escapeText)
  const palette = paletteOf('stderr', io, display.color)
  io.stderr.write(`${palette.line(formatterFor(io, 'stderr')(display.redact(lines.join('\n  '))))}\n`)
}

async function stackOf(error: unknown): Promise<string | undefined> {
  if (!(error instanceof Error) || error.stack === undefined) return undefined
  const { stackInSources } = await import('../foundation/text/stack-in-sources.ts')
  return stackInSources(error.stack)
}

async function logError(
  error: unknown,
  { io: { stderr }, redact }: ErrorDisplay,
  fields: { readonly hint: string | undefined; readonly stack: string | undefined },
): Promise<void> {
  const { createLogger } = await import('../app/create-logger.ts')
  const write = (line: string) => void stderr.write(line)
  const logger = createLogger({ format: 'json', level: 'error', withTime: true, write, redact })
  const code = error instanceof ShelfdError ? error.code : 'unexpected'
  logger.error(messageOf(error), { code, ...fields, exitCode: exitCodeOf(error) })
}

async function dispatch(argv: readonly string[], io: CliIo, display: ErrorDisplay): Promise<number> {
  if (argv[0] === COMPLETION_REQUEST) return complete(argv.slice(1), io)
  if (asksForOneOf(argv, '--version', '-V')) return printText(io, `${await describeVersion(argv, io)}\n`)
  const found = findCommand(argv)
  display.commandName = found.entry?.name ?? (found.path.join(' ') || undefined)
  const command = await found.entry?.load()
  const asksForHelp = asksForOneOf(argv, '--help', '-h') || (found.path.length > 0 && !command)
  if (asksForHelp && !found.isMistyped) return printText(io, await helpOf(found, command, io))
  const { readCommandLine } = await import('./parser/read-command-line.ts')
  const read = await readCommandLine(found, command)
  if (command && read) return runCommand(command, read, io, display)
  io.stderr.write(await helpOf(found, command, io))
  return EXIT_CODES.usage.code
}

/** Returns the version; with --json also Node, the platform, and the paths of the program and its files. */
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
    showsAll: found.path.length === 0 || found.argv.includes('--all'),
  })
  // Examples and commands above say "shelfd", because the longer name would leave no room for the meanings beside it.
  const typed = io.asTyped?.('shelfd sync').replace(/ sync$/, '')
  return typed === undefined ? help : `${help}\nIn this checkout, type "${typed}" for "shelfd".\n`
}

async function runCommand(command: Command, line: CommandLine, typedIn: CliIo, display: ErrorDisplay): Promise<number> {
  const { flags, args } = line
  const { createContext } = await import('./context.ts')
  const { withTypedFlags } = await import('./commands-as-typed.ts')
  const io = withTypedFlags(typedIn, flags)
  display.io = io
  const settings = command.withoutSettings ? withoutSettings : await loadSettings(flags, io, display)
  const context = createContext(io, flags, settings)
  display.redact = context.redactor.redact
  display.withStack = flags.verbosity >= 2
  io.signal.throwIfAborted()
  keepMemorySmall()
  try {
    return EXIT_CODES[(await command.run(context, args)) ?? 'done'].code
  } finally {
    context.endWait()
  }
}

type SettingsReader = (readFile?: ReadTextFile) => Settings

/** Loads the reader of settings, which takes longer than most commands run; commands without settings do without it. */
async function loadSettings(flags: GlobalFlags, io: CliIo, display: ErrorDisplay): Promise<SettingsReader> {
  const { readSettings } = await import('../app/settings/read-settings.ts')
  const { env, cwd, home } = io
  return (readFile) => {
    const surroundings = { env, cwd, home, ...(readFile && { readFile }) }
    const settings = readSettings({ flags: { ...flags.settingFlags, config: flags.config }, ...surroundings })
    display.logFormat = settings.logFormat
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

/** Returns the log format for errors that occur before the configuration is read. */
function typedLogFormat(argv: readonly string[], env: CliIo['env']): LogFormat {
  const format = typedValue(argv, '--log-format') ?? env.SHELFD_LOG_FORMAT
  return format === 'json' || format === 'text' ? format : 'auto'
}

function typedColor(argv: readonly string[]): ColorChoice {
  const color = typedValue(argv, '--color')
  return COLOR_CHOICES.find((choice) => choice === color) ?? 'auto'
}

function typedValue(argv: readonly string[], flag: string): string | undefined {
  const at = argv.findLastIndex((word) => word === flag || word.startsWith(`${flag}=`))
  if (at === -1) return undefined
  const [, attached] = argv[at]?.split('=') ?? []
  return attached ?? argv[at + 1]
}
