import { closeSync, existsSync, fsyncSync, openSync, readFileSync, renameSync, statSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'

/**
 * A note beside the store of how often it was opened, and how it was left. A store that has fewer openings than its note
 * is an older copy, or one that lost its write-ahead log: it opens cleanly and lacks what was reported as done.
 */
export interface GenerationNote {
  readonly generation: number
  /** Size of the closed database; null while it is open, so also after a crash. */
  readonly closedSizeBytes: number | null
}

/** The note in `file`; undefined when there is none, null when it can't be read as one. */
export function readGenerationNote(file: string): GenerationNote | null | undefined {
  if (!existsSync(file)) return undefined
  const match = /^shelfd store, generation (\d+), (?:open|closed at (\d+) bytes)\n$/.exec(readFileSync(file, 'utf8'))
  if (!match?.[1]) return null
  return { generation: Number(match[1]), closedSizeBytes: match[2] === undefined ? null : Number(match[2]) }
}

/** Writes the note so that after a power cut the old or the new one stands, never half of one. */
export function writeGenerationNote(file: string, note: GenerationNote): void {
  const state = note.closedSizeBytes === null ? 'open' : `closed at ${note.closedSizeBytes} bytes`
  const temporary = `${file}.new`
  const descriptor = openSync(temporary, 'w', 0o600)
  try {
    writeSync(descriptor, `shelfd store, generation ${note.generation}, ${state}\n`)
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
  renameSync(temporary, file)
  syncDirectory(dirname(file))
}

/** True when the database at `file` is exactly as large as its last orderly close left it. */
export function wasClosedOrderly(file: string, note: GenerationNote): boolean {
  const log = `${file}-wal`
  // A reader leaves an empty log behind.
  const hasLog = existsSync(log) && statSync(log).size > 0
  return note.closedSizeBytes !== null && statSync(file).size === note.closedSizeBytes && !hasLog
}

function syncDirectory(directory: string): void {
  if (process.platform === 'win32') return
  const descriptor = openSync(directory, 'r')
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}
