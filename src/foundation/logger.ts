export type LogFields = Readonly<Record<string, unknown>>

/** What every part may log to; the composition decides where it goes and what is redacted. */
export interface Logger {
  debug(message: string, fields?: LogFields): void
  info(message: string, fields?: LogFields): void
  warn(message: string, fields?: LogFields): void
  error(message: string, fields?: LogFields): void
}

export const silentLogger: Logger = { debug() {}, info() {}, warn() {}, error() {} }
