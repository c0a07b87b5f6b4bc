import { closeSync, fsyncSync, openSync, statSync, writeSync } from 'node:fs'
import { z } from 'zod'
import { readOwnFile } from '../../foundation/files/own-file.ts'
import { replaceFile } from '../../foundation/files/replace-file.ts'
import { parseJson } from '../../foundation/text/parse-json.ts'

/** Distinguishes a file from its copies: no program can choose an inode number or set a ctime. */
export interface FileIdentity {
  readonly inode: bigint
  readonly ctimeNs: bigint
}

/**
 * How many commits the store has, and how it was closed. A store with fewer commits than recorded is an older copy, or has lost a part of
 * its log, so it lacks work that was reported as done.
 */
export interface GenerationRecord {
  /** Durable commits so far, counted in the store as well. */
  readonly commits: number
  /** The identity of the database file when the record was written. */
  readonly place: FileIdentity | null
  /** The closed database file; null while it is open, and after a crash. */
  readonly closed: { readonly sizeBytes: number; readonly crc32: number } | null
}

/** Inodes from 2^63 on are negative here. */
const integer = z
  .string()
  .regex(/^-?\d+$/)
  .transform(BigInt)
const recordShape = z.object({
  commits: z.int().nonnegative(),
  place: z.object({ inode: integer, ctimeNs: integer }).nullable(),
  closed: z.object({ sizeBytes: z.int(), crc32: z.int() }).nullable(),
})

/** Every record has this length, so that it overwrites the previous record within one disk sector. */
const RECORD_BYTES = 256
const MAX_BYTES = 4_096

/** Returns undefined without a file, null for an invalid record. Throws OperatorError for anything but a small file that shelfd wrote. */
export function readGenerationRecord(file: string): GenerationRecord | null | undefined {
  const text = readOwnFile(file, MAX_BYTES)
  return text === undefined ? undefined : (recordShape.safeParse(parseJson(text)).data ?? null)
}

export function identityOf(file: string): FileIdentity | undefined {
  const found = statSync(file, { bigint: true, throwIfNoEntry: false })
  return found && { inode: found.ino, ctimeNs: found.ctimeNs }
}

export function isSameIdentity(one: FileIdentity | null | undefined, other: FileIdentity | null | undefined): boolean {
  return one?.inode === other?.inode && one?.ctimeNs === other?.ctimeNs
}

/** The file of the record. It stays open, because every durable commit writes it. */
export class GenerationFile implements Disposable {
  readonly #descriptor: number

  /** Creates the file with `first`, unless it already holds a valid record. */
  constructor(file: string, first: GenerationRecord) {
    if (!readGenerationRecord(file)) replaceFile(file, formatRecord(first))
    this.#descriptor = openSync(file, 'r+')
  }

  /** The record survives a crash of the program; after a power cut the previous one may be back. */
  write(record: GenerationRecord): void {
    writeSync(this.#descriptor, formatRecord(record), 0)
  }

  writeDurably(record: GenerationRecord): void {
    this.write(record)
    fsyncSync(this.#descriptor)
  }

  [Symbol.dispose](): void {
    closeSync(this.#descriptor)
  }
}

function formatRecord({ commits, place, closed }: GenerationRecord): string {
  const written = place && { inode: String(place.inode), ctimeNs: String(place.ctimeNs) }
  return `${JSON.stringify({ commits, place: written, closed }).padEnd(RECORD_BYTES - 1)}\n`
}
