import type { NoteQueries } from '../store/notes.ts'

/** How far a mirror's schedule has been seen to. */
export interface HandledNote {
  readonly cron: string
  /** Every due time up to here had its batch, or was skipped; wall-clock milliseconds. */
  readonly handledAt: number
}

/** The note of a mirror; undefined when there is none that can be read. */
export function readHandled(notes: NoteQueries, name: string): HandledNote | undefined {
  const [, handledAt = '', cron] = /^(\d+) (.+)$/.exec(notes.get(keyOf(name)) ?? '') ?? []
  return cron === undefined ? undefined : { cron, handledAt: Number(handledAt) }
}

export function writeHandled(notes: NoteQueries, { name, cron }: { name: string; cron: string }, nowMs: number): void {
  notes.set(keyOf(name), `${nowMs} ${cron}`)
}

function keyOf(name: string): string {
  return `schedule:${name}`
}
