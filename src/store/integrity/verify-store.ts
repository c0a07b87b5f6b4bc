import { closeSync, existsSync, openSync, readSync, statSync } from 'node:fs'
import { crc32 } from 'node:zlib'
import type Database from 'better-sqlite3'
import { OperatorError } from '../../foundation/errors.ts'
import { type DatabaseSpec, openDatabaseReadOnly, type PageCheck } from '../../foundation/sqlite/open-database.ts'
import { wayBack } from './explain-faults.ts'
import { GenerationFile, type GenerationNote, isSamePlace, placeOf, readGenerationNote } from './generation.ts'

/** What a comparison of the store with its note found, before anything is written to the store. */
export interface VerifiedStore {
  readonly note: GenerationNote | undefined
  /** The page check that opening must still do; undefined when none. */
  readonly check: PageCheck | undefined
  /** The store may be of any age: its note is missing, or somebody copied or restored both. */
  readonly isOfUnknownAge: boolean
}

interface StoreFiles {
  readonly directory: string
  readonly spec: DatabaseSpec
  readonly noteFile: string
}

const CHUNK_BYTES = 2 ** 20

/** Throws OperatorError when the store is gone, is older than its note says, or was changed since it was closed. */
export function verifyStore(files: StoreFiles): VerifiedStore {
  const { spec, noteFile } = files
  const note = readGenerationNote(noteFile) ?? undefined
  const exists = existsSync(spec.file)
  if (!exists && existsSync(noteFile)) throw lostStore(files.directory)
  if (!note) return { note, check: exists ? 'integrity_check' : undefined, isOfUnknownAge: exists }
  const isOfUnknownAge = isElsewhere(files, note)
  // A log that belongs to another copy of the database would mix in pages of that copy.
  const check = note.closed ? undefined : isOfUnknownAge ? 'integrity_check' : 'quick_check'
  const commits = readCommits({ ...spec, check })
  if (note.closed && !isAsClosed(spec.file, note.closed)) throw changedStore(files.directory)
  if (commits < note.commits) throw olderStore(files, commits, note.commits)
  return { note, check: undefined, isOfUnknownAge }
}

/**
 * Verifies a store for reading, beside its holder or without one; throws like verifyStore. The caller reads `note` before
 * it opens the database, because a holder writes it after each commit. A file that is not the closed one is read in full.
 */
export function verifyForReading(
  files: StoreFiles,
  note: GenerationNote | null | undefined,
  database: Database.Database,
): void {
  if (!note) return
  const commits = commitsOf(database)
  if (commits < note.commits) throw olderStore(files, commits, note.commits)
  if (!note.closed || isSamePlace(note.place, placeOf(files.spec.file))) return
  const isChanged = !isAsClosed(files.spec.file, note.closed)
  const now = readGenerationNote(files.noteFile)
  // Another process may have opened the store meanwhile.
  if (isChanged && now?.closed && now.commits === note.commits) throw changedStore(files.directory)
}

/** True when the note was written for another file than the database. */
export function isElsewhere({ spec }: StoreFiles, note: GenerationNote | null | undefined): boolean {
  return !isSamePlace(note?.place, placeOf(spec.file))
}

export function lostStore(directory: string): OperatorError {
  return damaged(`The store in "${directory}" is gone, its note is still there; ${wayBack(directory)}`)
}

/** Durable commits of the store; 0 when it has no schema, like a new store without its log. */
export function commitsOf(database: Database.Database): number {
  if (database.pragma('user_version', { simple: true }) === 0) return 0
  const read = database.prepare<[], { value: string }>("SELECT value FROM meta WHERE key = 'commits'")
  return Number(read.get()?.value ?? 0)
}

/** Size and checksum of a closed database, which reveal any later change. */
export function describeClosed(file: string): NonNullable<GenerationNote['closed']> {
  const descriptor = openSync(file, 'r')
  try {
    const chunk = Buffer.allocUnsafe(CHUNK_BYTES)
    let checksum = 0
    let sizeBytes = 0
    for (let read = readSync(descriptor, chunk); read > 0; read = readSync(descriptor, chunk)) {
      checksum = crc32(chunk.subarray(0, read), checksum)
      sizeBytes += read
    }
    return { sizeBytes, crc32: checksum }
  } finally {
    closeSync(descriptor)
  }
}

/** Writes the note of a closed database that no process has held yet. */
export function noteClosed(spec: DatabaseSpec, noteFile: string): void {
  const commits = readCommits(spec)
  const { ino: inode, ctimeNs } = statSync(spec.file, { bigint: true })
  new GenerationFile(noteFile, { commits, place: { inode, ctimeNs }, closed: describeClosed(spec.file) })[
    Symbol.dispose
  ]()
}

/** Whether the write-ahead log holds commits; a reader leaves an empty log behind. */
export function hasLog(file: string): boolean {
  return (statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0
}

function isAsClosed(file: string, closed: NonNullable<GenerationNote['closed']>): boolean {
  if (hasLog(file) || statSync(file).size !== closed.sizeBytes) return false
  return describeClosed(file).crc32 === closed.crc32
}

function readCommits(spec: DatabaseSpec): number {
  const database = openDatabaseReadOnly(spec)
  try {
    return commitsOf(database)
  } finally {
    database.close()
  }
}

function olderStore({ directory, noteFile }: StoreFiles, found: number, noted: number): OperatorError {
  const counts = `it has ${found} commits, its note says ${noted}`
  const text = `The store in "${directory}" is an older copy, or lost its write-ahead log: ${counts}`
  const way = `restore the whole directory from a backup, or remove "${noteFile}" to go on with what is there`
  return damaged(`${text}; ${way}: before anything is sent, shelfd then looks for what it lacks`)
}

function changedStore(directory: string): OperatorError {
  const text = `The store in "${directory}" is not as shelfd left it: its bytes changed, or another copy took its place`
  return damaged(`${text}; ${wayBack(directory)}`)
}

function damaged(message: string): OperatorError {
  return new OperatorError('store-damaged', message)
}
