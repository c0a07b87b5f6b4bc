import { createRequire } from 'node:module'
import type { LogLine } from '../contract/dashboard.ts'
import type { RecentLog } from '../dashboard/sources.ts'
import { messageOf } from '../foundation/errors.ts'
import { type LogFields, type Logger, type LogLevel, loggerTo } from '../foundation/logger.ts'
import { escapeJson, escapeText } from '../foundation/text/safe-text.ts'
import type { Environment } from './settings/overrides.ts'
import type { LogFormat } from './settings/settings.ts'

export interface LoggerOptions {
  readonly format: 'text' | 'json'
  readonly level: LogLevel
  /** Whether lines begin with the time of day; false under a service manager, which adds it. */
  readonly withTime: boolean
  readonly write: (line: string) => void
  readonly redact: (text: string) => string
}

const LEVELS: readonly LogLevel[] = ['debug', 'info', 'warn', 'error']

export function createLogger(options: LoggerOptions): Logger {
  return options.format === 'json' ? createJsonLogger(options) : createTextLogger(options)
}

export function chooseLogFormat(format: LogFormat, env: Environment): 'text' | 'json' {
  return format === 'auto' ? (isUnderSystemd(env) ? 'json' : 'text') : format
}

export function levelOf(quiet: boolean, verbosity: number): LogLevel {
  if (quiet) return 'error'
  return verbosity > 0 ? 'debug' : 'info'
}

function createTextLogger({ level, withTime, write, redact }: LoggerOptions): Logger {
  const shown = LEVELS.slice(LEVELS.indexOf(level))
  return loggerTo((name, message, fields = {}) => {
    if (!shown.includes(name)) return
    const time = withTime ? `${new Date().toISOString().slice(11, 19)} ` : ''
    const defined = Object.entries(fields).filter(([, value]) => value !== undefined)
    const parts = defined.map(([key, value]) => formatField(key, value))
    write(`${redact([`${time}${name.padEnd(5)} ${escapeText(message)}`, ...parts].join(' '))}\n`)
  })
}

function formatField(key: string, value: unknown): string {
  const text =
    typeof value === 'string' ? value : value instanceof Error ? messageOf(value) : (JSON.stringify(value) ?? '')
  const isPlain = /^[^\s"=]+$/.test(text) || typeof value === 'object'
  return `${key}=${escapeText(isPlain && !(value instanceof Error) ? text : JSON.stringify(text))}`
}

/** Loads pino when the first line is logged, because most commands log none. */
function createJsonLogger({ level, write, redact }: LoggerOptions): Logger {
  let loaded: Logger | undefined
  return loggerTo((name, message, fields) => {
    loaded ??= loadPino(level, { write: (line) => write(`${redact(escapeJson(line.trimEnd()))}\n`) })
    loaded[name](message, fields)
  })
}

function loadPino(level: LogLevel, stream: { write: (line: string) => void }): Logger {
  const { pino }: typeof import('pino') = createRequire(import.meta.url)('pino')
  const formatters = { level: (label: string) => ({ level: label }) }
  const logger = pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime, formatters }, stream)
  return loggerTo((name, message, fields = {}) => logger[name](withErrorTexts(fields), message))
}

function withErrorTexts(fields: LogFields): LogFields {
  const entries = Object.entries(fields).map(([key, value]) => [key, value instanceof Error ? messageOf(value) : value])
  return Object.fromEntries(entries)
}

/** Returns whether this is a `Type=notify` service of systemd. Under other managers users set `--health-listen` and `--log-format`. */
export function isUnderSystemd(env: Readonly<Record<string, string | undefined>>): boolean {
  return Boolean(env.NOTIFY_SOCKET)
}

const MAX_RECENT_LINES = 500

/** Returns a logger that also records its newest lines for the dashboard, except those of the level debug. */
export function recordRecent(logger: Logger, redact: (text: string) => string): { logger: Logger; recent: RecentLog } {
  const lines: LogLine[] = []
  let level: LogLine['level'] = 'info'
  let last = 0
  const write = (line: string) => {
    last += 1
    // The text of a line follows its level, which takes six columns.
    lines.push({ number: last, at: new Date().toISOString(), level, text: line.trimEnd().slice(6) })
    if (lines.length > MAX_RECENT_LINES) lines.shift()
  }
  const text = createLogger({ format: 'text', level: 'info', withTime: false, write, redact })
  const recording = loggerTo((name, message, fields) => {
    logger[name](message, fields)
    if (name === 'debug') return
    level = name
    text[name](message, fields)
  })
  const recent = {
    get last() {
      return last
    },
    list: () => lines,
  }
  return { logger: recording, recent }
}
