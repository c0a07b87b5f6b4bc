import { closeSync, existsSync, openSync, readSync, statSync } from 'node:fs'
import { crc32 } from 'node:zlib'
import type Database from 'better-sqlite3'
import { OperatorError } from '../../foundation/errors.ts'
import { type DatabaseSpec, isDatabaseThere, openDatabaseReadOnly } from '../../foundation/sqlite/open-database.ts'
import { recoveryHint } from './explain-faults.ts'
import {
  GenerationFile,
  type GenerationRecord,
  identityOf,
  isSameIdentity,
  readGenerationRecord,
} from './generation.ts'

/** The result of comparing the store with its generation file, before anything is written. */
export interface VerifiedStore {
  readonly generation: GenerationRecord | undefined
  /** The generation file is missing, or a user copied or restored it together with the store. */
  readonly isOfUnknownAge: boolean
}

export interface StoreFiles {
  readonly directory: string
  readonly spec: DatabaseSpec
  readonly generationFile: string
}

const CHUNK_BYTES = 2 ** 20

/** Throws OperatorError if the store is gone, older than its generation file, or changed since it was closed, or is no store of shelfd. */
export function verifyStore(files: StoreFiles): VerifiedStore {
  const { spec, generationFile } = files
  const generation = readGenerationRecord(generationFile) ?? undefined
  if (!isDatabaseThere(spec.file)) {
    if (existsSync(generationFile)) throw lostStore(files.directory)
    return { generation, isOfUnknownAge: false }
  }
  const isOfUnknownAge = isElsewhere(files, generation)
  const check = generation?.closed ? undefined : isOfUnknownAge ? 'integrity_check' : 'quick_check'
  const commits = readCommits({ ...spec, check })
  if (!generation) return { generation, isOfUnknownAge }
  if (generation.closed && !isAsClosed(spec.file, generation.closed)) throw changedStore(files.directory)
  if (commits < generation.commits) throw olderStore(files, commits, generation.commits)
  return { generation, isOfUnknownAge }
}

/**
 * Verifies a store for reading, also while another process holds it; throws like verifyStore. The caller must read `generation` before it
 * opens the database, because the holder writes it after each commit.
 */
export function verifyForReading(
  files: StoreFiles,
  generation: GenerationRecord | null | undefined,
  database: Database.Database,
): void {
  if (!generation) return
  const commits = commitsOf(database)
  if (commits < generation.commits) throw olderStore(files, commits, generation.commits)
  if (!generation.closed || isSameIdentity(generation.place, identityOf(files.spec.file))) return
  const isChanged = !isAsClosed(files.spec.file, generation.closed)
  const now = readGenerationRecord(files.generationFile)
  // Another process may have opened the store meanwhile.
  if (isChanged && now?.closed && now.commits === generation.commits) throw changedStore(files.directory)
}

/** Returns whether the generation file was written for another database file. */
export function isElsewhere({ spec }: StoreFiles, generation: GenerationRecord | null | undefined): boolean {
  return !isSameIdentity(generation?.place, identityOf(spec.file))
}

export function lostStore(directory: string): OperatorError {
  return damaged(
    `The store in "${directory}" is gone, but its file "generation" is still there; ${recoveryHint(directory)}`,
  )
}

/** Returns 0 for a store without a schema, such as a new one whose log is missing. */
export function commitsOf(database: Database.Database): number {
  if (database.pragma('user_version', { simple: true }) === 0) return 0
  const read = database.prepare<[], { value: string }>("SELECT value FROM meta WHERE key = 'commits'")
  return Number(read.get()?.value ?? 0)
}

export function describeClosed(file: string): NonNullable<GenerationRecord['closed']> {
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

export function recordClosed(spec: DatabaseSpec, generationFile: string): void {
  const commits = readCommits(spec)
  const { ino: inode, ctimeNs } = statSync(spec.file, { bigint: true })
  new GenerationFile(generationFile, { commits, place: { inode, ctimeNs }, closed: describeClosed(spec.file) })[
    Symbol.dispose
  ]()
}

/** An empty log does not count, because a reader leaves one behind. */
export function hasLog(file: string): boolean {
  return (statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0
}

function isAsClosed(file: string, closed: NonNullable<GenerationRecord['closed']>): boolean {
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

function olderStore({ directory, generationFile }: StoreFiles, found: number, recorded: number): OperatorError {
  const counts = `it has ${found} commits, its file "generation" records ${recorded}`
  const text = `The store in "${directory}" is an older copy, or lost its write-ahead log: ${counts}`
  const hint = `restore the whole directory from a backup, or remove "${generationFile}" to continue with what is there`
  return damaged(`${text}; ${hint}: shelfd then looks for earlier uploads before it sends anything`)
}

function changedStore(directory: string): OperatorError {
  const text = `The store in "${directory}" is not as shelfd left it: its bytes changed, or another copy took its place`
  return damaged(`${text}; ${recoveryHint(directory)}`)
}

function damaged(message: string): OperatorError {
  return new OperatorError('store-damaged', message)
}
