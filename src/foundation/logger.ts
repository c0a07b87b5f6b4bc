export type LogFields = Readonly<Record<string, unknown>>

/** The composition root decides where messages go and what is redacted. */
export interface Logger {
  debug(message: string, fields?: LogFields): void
  info(message: string, fields?: LogFields): void
  warn(message: string, fields?: LogFields): void
  error(message: string, fields?: LogFields): void
}

export type LogLevel = keyof Logger

export function loggerTo(log: (level: LogLevel, message: string, fields?: LogFields) => void): Logger {
  return {
    debug: (message, fields) => log('debug', message, fields),
    info: (message, fields) => log('info', message, fields),
    warn: (message, fields) => log('warn', message, fields),
    error: (message, fields) => log('error', message, fields),
  }
}

export const silentLogger = loggerTo(() => {})
