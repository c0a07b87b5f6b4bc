export type LogFields = Readonly<Record<string, unknown>>

/** The log for every part; the composition root decides where messages go and what is redacted. */
export interface Logger {
  debug(message: string, fields?: LogFields): void
  info(message: string, fields?: LogFields): void
  warn(message: string, fields?: LogFields): void
  error(message: string, fields?: LogFields): void
}

export const silentLogger: Logger = { debug() {}, info() {}, warn() {}, error() {} }
