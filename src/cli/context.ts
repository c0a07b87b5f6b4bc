import { chooseLogFormat, createLogger, levelOf } from '../app/create-logger.ts'
import type { ReadTextFile } from '../app/files/private-files.ts'
import type { OpenedService } from '../app/service-client/open-service.ts'
import { type ExplainedSettings, explainSettings } from '../app/settings/explain-settings.ts'
import type { SettingFlags } from '../app/settings/overrides.ts'
import type { Settings } from '../app/settings/settings.ts'
import type { LogFields, Logger } from '../foundation/logger.ts'
import { createRedactor, type Redactor } from '../foundation/text/redaction.ts'
import { escapeLines, terminalSafeJson } from '../foundation/text/safe-text.ts'
import { isoTime } from '../foundation/text/times.ts'
import { describeOutage, type Outage, type OutageListener } from '../remote/policies/outage.ts'
import { INTERACTIVE_RETRY } from '../rules/retry-delay.ts'
import { renderTable } from './render/layout.ts'
import { type CliIo, columnsOf, formatterFor } from './terminal/cli-io.ts'
import { MessageOutput, WaitingLine } from './terminal/messages.ts'
import { type ColorChoice, type Palette, paletteOf } from './terminal/palette.ts'

export interface GlobalFlags {
  readonly config: string | undefined
  readonly json: boolean
  readonly quiet: boolean
  /** The number of times that `-v` was given. */
  readonly verbosity: number
  readonly color: ColorChoice
  readonly settingFlags: SettingFlags
}

export interface CommandContext extends GlobalFlags {
  readonly io: CliIo
  readonly signal: AbortSignal
  readonly settings: Settings
  /** Reads the settings anew; `settings` does not change. */
  readSettings(readFile?: ReadTextFile): Settings
  explainSettings(readFile?: ReadTextFile): ExplainedSettings
  readonly logger: Logger
  readonly redactor: Redactor
  /** Reports on stderr that the command waits for the service. */
  readonly onOutage: OutageListener
  openService(): Promise<OpenedService>
  /** Prints a line without registered secrets and control characters. */
  print(line: string): void
  /** Prints a text, in colours where stdout shows them. */
  printText(text: string, style?: Exclude<keyof Palette, 'progress'>): void
  printJson(value: unknown): void
  readonly columns: number | undefined
  /** Prints a table; on a terminal, its rows are cut to the width. */
  printTable(headings: readonly string[], rows: readonly (readonly string[])[]): void
  /** Writes a line for people to stderr, except with `-q`. */
  printMessage(line: string, style?: 'line' | 'quiet'): void
  /** With a text log, writes one or more lines as `printMessage` does; with a JSON log, logs them as info with `fields`. */
  announce(line: string, fields?: LogFields): void
  readonly logFormat: 'text' | 'json'
  /** Shows on a terminal, after a second without other output, what the command waits for. */
  showWait(what: string): void
  endWait(): void
  readonly messages: MessageOutput
}

export function createContext(
  io: CliIo,
  flags: GlobalFlags,
  readSettings: CommandContext['readSettings'],
): CommandContext {
  const redactor = createRedactor()
  redactor.add(io.env.SHELFD_TOKEN ?? '')
  let settings: Settings | undefined
  let logger: Logger | undefined
  const messages = new MessageOutput(io.stderr, paletteOf('stderr', io, flags.color))
  const palette = paletteOf('stdout', io, flags.color)
  const [formatText, formatMessage] = [formatterFor(io, 'stdout'), formatterFor(io, 'stderr')]
  const printMessage: CommandContext['printMessage'] = (line, style) => {
    if (!flags.quiet) messages.write(`${formatMessage(redactor.redact(line))}\n`, style)
  }
  let onOutage: OutageListener | undefined
  const waiting = new WaitingLine(messages, io.isTerminal.stdout && io.isTerminal.stderr && !flags.quiet)
  const safe = (text: string) => redactor.redact(escapeLines(text))
  const print = (line: string) => {
    waiting.end()
    io.stdout.write(`${safe(line)}\n`)
  }
  const printText: CommandContext['printText'] = (text, style = 'line') => {
    waiting.end()
    io.stdout.write(`${palette[style](formatText(safe(text)))}\n`)
  }
  const context: CommandContext = {
    ...flags,
    io,
    signal: io.signal,
    redactor,
    readSettings,
    explainSettings: (readFile) =>
      explainSettings({
        ...io,
        flags: { ...flags.settingFlags, config: flags.config },
        ...(readFile && { readFile }),
      }),
    get settings() {
      settings ??= readSettings()
      return settings
    },
    get logger() {
      logger ??= openLogger(io, flags, context.settings, { messages, redactor })
      return logger
    },
    get onOutage() {
      onOutage ??= createOutageListener(context.announce, io.isTerminal.stderr)
      return onOutage
    },
    openService: async () => {
      const { openService } = await import('../app/service-client/open-service.ts')
      const { logger, onOutage, settings } = context
      context.showWait(describeService(settings))
      return openService(settings, { ...io, logger, redactor, onOutage, retry: INTERACTIVE_RETRY })
    },
    print,
    printText,
    get columns() {
      return columnsOf(io)
    },
    printTable: (headings, rows) => {
      const [heading = '', ...lines] = renderTable(headings, rows, context.columns).split('\n')
      printText(heading, 'heading')
      if (lines.length > 0) print(lines.join('\n'))
    },
    printJson: (value) => print(terminalSafeJson(value)),
    printMessage,
    announce: (line, fields) => {
      if (context.logFormat === 'json') context.logger.info(line.replaceAll('\n', ' '), fields)
      else printMessage(line)
    },
    get logFormat() {
      return chooseLogFormat(context.settings.logFormat, io.env)
    },
    showWait: (what) => waiting.begin(what),
    endWait: () => waiting.end(),
    messages,
  }
  return context
}

export function describeService({ service }: Settings): string {
  return service.kind === 'embedded' ? 'opening the library' : `waiting for ${service.origin}`
}

function openLogger(
  io: CliIo,
  flags: GlobalFlags,
  settings: Settings,
  { messages, redactor }: Pick<CommandContext, 'messages' | 'redactor'>,
): Logger {
  return createLogger({
    format: chooseLogFormat(settings.logFormat, io.env),
    level: levelOf(flags.quiet, flags.verbosity),
    withTime: io.env.JOURNAL_STREAM === undefined,
    write: (line) => messages.write(line),
    redact: redactor.redact,
  })
}

/** Shorter outages are not reported. */
const MIN_REPORTED_MS = 1_000
/** The interval at which an unchanged outage is reported again. */
const REMINDER_MS = 30_000

interface Announcement {
  readonly origin: string
  readonly key: string
  readonly atMs: number
}

/** Returns a listener that announces outages and their end; on a terminal it adds that Ctrl-C stops the command. */
function createOutageListener(announce: CommandContext['announce'], isTerminal: boolean): OutageListener {
  let announced: Announcement | undefined
  return (outage) => {
    const nowMs = Date.now()
    if (!outage) {
      if (announced) announce(`${announced.origin} answers again.`, { service: announced.origin })
      announced = undefined
      return
    }
    const lastsMs = (outage.nextTryAtMs ?? nowMs) - outage.sinceMs
    const key = `${outage.code} ${outage.nextTryAtMs === null ? '' : outage.cause}`
    if (lastsMs < MIN_REPORTED_MS || (announced?.key === key && nowMs - announced.atMs < REMINDER_MS)) return
    announced = { origin: outage.origin, key, atMs: nowMs }
    announce(`${describeOutage(outage, nowMs)}${isTerminal ? ' Ctrl-C stops.' : ''}`, fieldsOf(outage))
  }
}

function fieldsOf({ origin, code, cause, givesUpAtMs, nextTryAtMs, askedUntilMs }: Outage): LogFields {
  const times = { until: givesUpAtMs, nextTry: nextTryAtMs, askedToWaitUntil: askedUntilMs }
  const shown = Object.entries(times).flatMap(([name, ms]) => (ms === null ? [] : [[name, isoTime(ms)]]))
  return { service: origin, code, reason: cause, ...Object.fromEntries(shown) }
}
