import type { KeyValueQueries } from '../../store/key-values.ts'

/** How far a mirror's schedule has been seen to. */
export interface HandledNote {
  readonly cron: string
  /** Every due time up to here had its batch, or was skipped; wall-clock milliseconds. */
  readonly handledAt: number
  /** A batch was begun and has not ended. */
  readonly isUnderWay: boolean
}

const PREFIX = 'schedule:'

/** The note of a mirror; undefined when there is none that can be read. */
export function readHandled(keyValues: KeyValueQueries, name: string): HandledNote | undefined {
  const [, handledAt = '', underWay, cron] = /^(\d+)(\+?) (.+)$/.exec(keyValues.get(PREFIX + name) ?? '') ?? []
  return cron === undefined ? undefined : { cron, handledAt: Number(handledAt), isUnderWay: underWay !== '' }
}

export function writeHandled(
  keyValues: KeyValueQueries,
  name: string,
  { cron, handledAt, isUnderWay }: HandledNote,
): void {
  keyValues.set(PREFIX + name, `${handledAt}${isUnderWay ? '+' : ''} ${cron}`)
}

/** Names of all mirrors that have a note. */
export function listHandled(keyValues: KeyValueQueries): string[] {
  return keyValues.list(PREFIX).map(({ key }) => key.slice(PREFIX.length))
}

export function forgetHandled(keyValues: KeyValueQueries, name: string): void {
  keyValues.remove(PREFIX + name)
}
