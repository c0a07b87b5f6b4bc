import type { KeyValueQueries } from '../../store/tables/key-values.ts'

/** The time up to which a mirror's schedule was handled. */
export interface HandledBatch {
  readonly cron: string
  /** Every due time up to here had its batch, or was skipped; wall-clock milliseconds. */
  readonly handledAt: number
  /** True while a batch has been started and has not ended. */
  readonly isUnderWay: boolean
}

const PREFIX = 'schedule:'

/** Reads the record of a mirror; undefined when it is missing or unreadable. */
export function readHandled(keyValues: KeyValueQueries, name: string): HandledBatch | undefined {
  const [, handledAt = '', underWay, cron] = /^(\d+)(\+?) (.+)$/.exec(keyValues.get(PREFIX + name) ?? '') ?? []
  return cron === undefined ? undefined : { cron, handledAt: Number(handledAt), isUnderWay: underWay !== '' }
}

export function writeHandled(
  keyValues: KeyValueQueries,
  name: string,
  { cron, handledAt, isUnderWay }: HandledBatch,
): void {
  keyValues.set(PREFIX + name, `${handledAt}${isUnderWay ? '+' : ''} ${cron}`)
}

/** Names of all mirrors with such a record. */
export function listHandled(keyValues: KeyValueQueries): string[] {
  return keyValues.list(PREFIX).map(({ key }) => key.slice(PREFIX.length))
}

export function forgetHandled(keyValues: KeyValueQueries, name: string): void {
  keyValues.remove(PREFIX + name)
}
