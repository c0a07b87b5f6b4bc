import { closeSync, existsSync, openSync, readSync, statSync } from 'node:fs'
import { crc32 } from 'node:zlib'
import type Database from 'better-sqlite3'
import { OperatorError } from '../foundation/errors.ts'
import { type DatabaseSpec, openDatabaseReadOnly, type PageCheck } from '../foundation/sqlite/open-database.ts'
import { wayBack } from './explain-faults.ts'
import { GenerationFile, type GenerationNote, isSamePlace, placeOf, readGenerationNote } from './generation.ts'

/** A store that was found to be what its note says, before anything is written to it. */
export interface VerifiedStore {
  readonly note: GenerationNote | undefined
  /** What is still to be checked of its pages. */
  readonly check: PageCheck | undefined
  /** It may be as old as any: its note is missing, or it was copied here or restored together with its note. */
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
  // A log that belongs to another copy of the database would fill it with pages of that one.
  const check = note.closed ? undefined : isOfUnknownAge ? 'integrity_check' : 'quick_check'
  const commits = readCommits({ ...spec, check })
  if (note.closed && !isAsClosed(spec.file, note.closed)) throw changedStore(files.directory)
  if (commits < note.commits) throw olderStore(files, commits, note.commits)
  return { note, check: undefined, isOfUnknownAge }
}

/**
 * The same for whoever only reads, beside the holder or without one. `note` was read before the database was opened: a
 * holder writes it after each commit. Bytes are compared only when the file is not the one that was closed.
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
  // Somebody may have opened it meanwhile.
  if (isChanged && now?.closed && now.commits === note.commits) throw changedStore(files.directory)
}

/** The database is not the file that the note was written for. */
export function isElsewhere({ spec }: StoreFiles, note: GenerationNote | null | undefined): boolean {
  return !isSamePlace(note?.place, placeOf(spec.file))
}

export function lostStore(directory: string): OperatorError {
  return damaged(`The store in "${directory}" is gone, its note is still there; ${wayBack(directory)}`)
}

/** How many durable commits the store has had; none when it lacks its schema, as it does without its log at first. */
export function commitsOf(database: Database.Database): number {
  if (database.pragma('user_version', { simple: true }) === 0) return 0
  const read = database.prepare<[], { value: string }>("SELECT value FROM meta WHERE key = 'commits'")
  return Number(read.get()?.value ?? 0)
}

/** What is noted of a closed database, so that every later change of it shows. */
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

/** Notes of a database that is nobody's yet that it is as it should be. */
export function noteClosed(spec: DatabaseSpec, noteFile: string): void {
  const commits = readCommits(spec)
  const { ino: inode, ctimeNs } = statSync(spec.file, { bigint: true })
  new GenerationFile(noteFile, { commits, place: { inode, ctimeNs }, closed: describeClosed(spec.file) })[
    Symbol.dispose
  ]()
}

/** Whether commits wait in the write-ahead log; a reader leaves an empty one behind. */
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
