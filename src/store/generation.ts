import { closeSync, existsSync, fsyncSync, openSync, readFileSync, statSync, writeSync } from 'node:fs'
import { z } from 'zod'
import { replaceFile } from '../foundation/replace-file.ts'

/** Tells a file from every copy of it: no program can choose an inode or set the time of the last change of one. */
export interface FilePlace {
  readonly inode: bigint
  readonly ctimeNs: bigint
}

/**
 * A note beside the store of how far it has come, and how it was left. A store that has fewer commits than its note is an
 * older copy, or lost a part of its write-ahead log: it opens cleanly and lacks what was reported as done.
 */
export interface GenerationNote {
  /** Durable commits so far, counted in the store as well. */
  readonly commits: number
  /** Of the database, when the note was written; null: not known yet. */
  readonly place: FilePlace | null
  /** Of the closed database; null while it is open, so also after a crash. */
  readonly closed: { readonly sizeBytes: number; readonly crc32: number } | null
}

const integer = z.string().regex(/^\d+$/).transform(BigInt)
const noteShape = z.object({
  commits: z.int().nonnegative(),
  place: z.object({ inode: integer, ctimeNs: integer }).nullable(),
  closed: z.object({ sizeBytes: z.int(), crc32: z.int() }).nullable(),
})

/** Every note has this length and so takes the place of the one before, within one sector of the disk. */
const NOTE_BYTES = 256

/** The note in `file`; undefined when there is none, null when it can't be read as one. */
export function readGenerationNote(file: string): GenerationNote | null | undefined {
  if (!existsSync(file)) return undefined
  return noteShape.safeParse(parseJson(readFileSync(file, 'utf8'))).data ?? null
}

/** Where the file is; undefined when it is gone. */
export function placeOf(file: string): FilePlace | undefined {
  const found = statSync(file, { bigint: true, throwIfNoEntry: false })
  return found && { inode: found.ino, ctimeNs: found.ctimeNs }
}

export function isSamePlace(one: FilePlace | null | undefined, other: FilePlace | null | undefined): boolean {
  return one?.inode === other?.inode && one?.ctimeNs === other?.ctimeNs
}

/** The note beside a store that is held, kept open to be written with every commit. */
export class GenerationFile implements Disposable {
  readonly #descriptor: number

  /** Makes the file with `first` in it unless there is one that can be read. */
  constructor(file: string, first: GenerationNote) {
    if (!readGenerationNote(file)) replaceFile(file, formatNote(first))
    this.#descriptor = openSync(file, 'r+')
  }

  /** After a crash of the program the note stands as written; after a power cut it may be the one before. */
  write(note: GenerationNote): void {
    writeSync(this.#descriptor, formatNote(note), 0)
  }

  writeDurably(note: GenerationNote): void {
    this.write(note)
    fsyncSync(this.#descriptor)
  }

  [Symbol.dispose](): void {
    closeSync(this.#descriptor)
  }
}

function formatNote({ commits, place, closed }: GenerationNote): string {
  const written = place && { inode: String(place.inode), ctimeNs: String(place.ctimeNs) }
  return `${JSON.stringify({ commits, place: written, closed }).padEnd(NOTE_BYTES - 1)}\n`
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
