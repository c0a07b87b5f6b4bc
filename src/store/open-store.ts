import { chmodSync, existsSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type Database from 'better-sqlite3'
import { LockedError, type OperatorError } from '../foundation/errors.ts'
import { freeBytesOf } from '../foundation/files/free-bytes.ts'
import {
  describeHolder,
  type LockHolder,
  lockHolderShape,
  readHolder,
  thisProcess,
  writeHolder,
} from '../foundation/files/lock-holder.ts'
import { assertOwnDirectory, makeOwnDirectory } from '../foundation/files/private-directory.ts'
import { isKernelLockHeld, takeKernelLock } from '../foundation/sqlite/kernel-lock.ts'
import {
  checkDatabase,
  type DatabaseSpec,
  hasOlderSchema,
  isDatabaseThere,
  openDatabaseReadOnly,
} from '../foundation/sqlite/open-database.ts'
import { isoTime } from '../foundation/text/times.ts'
import { explainFaults } from './integrity/explain-faults.ts'
import { type GenerationRecord, readGenerationRecord } from './integrity/generation.ts'
import {
  isElsewhere,
  lostStore,
  recordClosed,
  type StoreFiles,
  verifyForReading,
  verifyStore,
} from './integrity/verify-store.ts'
import { WritableDatabase } from './integrity/writable-database.ts'
import { prepareContents } from './tables/contents.ts'
import { prepareDirectories } from './tables/directories.ts'
import { prepareFiles, prepareScannedFiles, prepareUnconfirmed, SCAN_TABLES } from './tables/files.ts'
import { prepareForeign } from './tables/foreign-entries.ts'
import { prepareKeyValues } from './tables/key-values.ts'
import { prepareMirrors } from './tables/mirrors.ts'
import { prepareProblems, prepareQuarantine } from './tables/problems.ts'
import { LISTING_TABLE, prepareReport } from './tables/report-queries.ts'
import { prepareRuns, prepareTimeline } from './tables/runs.ts'
import { prepareSentResources } from './tables/sent-resources.ts'
import { COPIED_KEY, prepareSettlements, SESSION_KEY } from './tables/settlements.ts'
import { prepareUnusedResources } from './tables/unused-resources.ts'
import { prepareUploads } from './tables/uploads.ts'

// "shl4". Until the first release each change of the schema takes another number, so that older databases are refused.
const APPLICATION_ID = 0x73686c34
const MIGRATIONS = join(import.meta.dirname, 'migrations')

/** The store for reading. Any process can read it, also while another one writes. */
export interface StoreReader extends StoreQueries, Disposable {
  /** A process has the store open for writing. Then the state `sending` means an upload in flight, otherwise one that was cut off. */
  isLocked(): boolean
  /** Receipts may be missing: the store is restored, copied or new. Mirrors then search before they upload. */
  mayLackReceipts(): boolean
}

interface StoreView extends StoreReader {
  /** Makes queries read from a snapshot of this moment until the next call, so that many small reads take only one lock. */
  renewView(): void
  /** Returns undefined if no process has the store open for writing, or that process could not leave its note. */
  findHolder(): LockHolder | undefined
}

/** A store that this process has locked. All changes are made inside `write` and its variants. */
export interface Store extends StoreReader {
  readonly directory: string
  /** Returns an error if another program has changed the files of the store. */
  findChange(): OperatorError | undefined
  freeBytes(): number
  /** Runs `work` in one transaction, which is durable when this returns. Throws the error of `findChange`. */
  write<T>(work: () => T): T
  /** Like `write`, without waiting for the disk, for data that can be found again. The next `write` makes it durable. */
  writeRelaxed<T>(work: () => T): T
  /** Runs `work` in a transaction that leaves no trace, for a dry run. */
  rollBackAfter<T>(work: () => Promise<T>): Promise<T>
}

/**
 * Opens or creates the store and locks it. Throws LockedError when another process holds it, TemporaryError on a full disk, and
 * OperatorError when it is damaged, lost, out of reach or newer. Tests pass further migrations.
 */
export function openStore(directory: string, migrationsDir = MIGRATIONS): Store {
  return explainFaults(directory, () => lockAndOpen(directory, migrationsDir))
}

function lockAndOpen(directory: string, migrationsDir: string): Store {
  makeOwnDirectory(directory)
  const lock = takeKernelLock(lockFileOf(directory))
  if (!lock) throw lockedByAnother(directory)
  try {
    const files = filesOf(directory, migrationsDir)
    const verified = verifyStore(files)
    if (!lock.isAlone(files.spec.file)) throw lockedByAnother(directory)
    announceHolder(directory)
    const store = createStore(new WritableDatabase(files, verified), directory, () => {
      retractHolder(directory)
      lock.release()
    })
    // If the lock file was replaced before the database was open, another process may hold the store as well.
    if (lock.isInPlace()) return store
    store[Symbol.dispose]()
    throw lockedByAnother(directory)
  } catch (error) {
    lock.release()
    throw error
  }
}

/** Returns the size of the store in bytes without its log; 0 if there is none. */
export function sizeOfStore(directory: string): number {
  return statSync(specOf(directory).file, { throwIfNoEntry: false })?.size ?? 0
}

/** Opens the store for reading; undefined without one. Migrates an older one first: LockedError if another process holds it. */
export function openStoreReader(directory: string, migrationsDir = MIGRATIONS): StoreView | undefined {
  return explainFaults(directory, () => openForReading(directory, migrationsDir))
}

function openForReading(directory: string, migrationsDir: string): StoreView | undefined {
  const files = filesOf(directory, migrationsDir)
  const { spec } = files
  if (!isStoreThere(files)) return undefined
  let generation = readGenerationRecord(files.generationFile)
  let database = openDatabaseReadOnly(spec)
  if (hasOlderSchema(database, spec)) {
    database.close()
    // Opening it for writing migrates it.
    openStore(directory, migrationsDir)[Symbol.dispose]()
    generation = readGenerationRecord(files.generationFile)
    database = openDatabaseReadOnly(spec)
  }
  try {
    verifyForReading(files, generation, database)
    // Another process is creating the store.
    if (database.pragma('user_version', { simple: true }) !== 0) return viewOf(files, generation, database)
    database.close()
    return undefined
  } catch (error) {
    database.close()
    throw error
  }
}

function viewOf(
  files: StoreFiles,
  generation: GenerationRecord | null | undefined,
  database: Database.Database,
): StoreView {
  const { directory } = files
  const renewView = () => {
    if (database.inTransaction) database.exec('COMMIT')
    database.exec('BEGIN')
  }
  const isLocked = () => explainFaults(directory, () => isKernelLockHeld(lockFileOf(directory)))
  // Without a lock, the note is that of a killed process.
  const findHolder = () => (isLocked() ? readStoreHolder(directory) : undefined)
  const queries = prepareQueries(database)
  const mayLackReceipts = () => queries.foreign.isAnySearchDue() || (isElsewhere(files, generation) && !isLocked())
  return Object.assign(queries, {
    isLocked,
    mayLackReceipts,
    renewView,
    findHolder,
    [Symbol.dispose]: () => database.close(),
  })
}

/** Changes nothing; returns undefined without a store. `isOlder`: opening the store migrates it. Throws like openStoreReader. */
export function checkStore(directory: string) {
  return explainFaults(directory, () => {
    const files = filesOf(directory)
    const { spec, generationFile } = files
    if (!isStoreThere(files)) return undefined
    const generation = readGenerationRecord(generationFile)
    const { inspected: isOlder, ...facts } = checkDatabase(spec, (database) => {
      verifyForReading(files, generation, database)
      return hasOlderSchema(database, spec)
    })
    return { ...facts, isOlder }
  })
}

function isStoreThere({ directory, spec, generationFile }: StoreFiles): boolean {
  assertOwnDirectory(directory, { isReader: true })
  const isThere = isDatabaseThere(spec.file)
  if (!isThere && existsSync(generationFile)) throw lostStore(directory)
  return isThere
}

/** Copies the store to the directory `target`, also while another process holds it. */
export function copyStoreInto(directory: string, target: string): void {
  const { spec, generationFile } = filesOf(target)
  copyStoreTo(directory, spec.file)
  recordClosed(spec, generationFile)
}

/** `file` must not exist. */
function copyStoreTo(directory: string, file: string): void {
  const database = explainFaults(directory, () => openDatabaseReadOnly(specOf(directory)))
  try {
    database.prepare('VACUUM INTO ?').run(file)
  } finally {
    database.close()
  }
}

function createStore(writable: WritableDatabase, directory: string, release: () => void): Store {
  const { database } = writable
  try {
    const queries = prepareQueries(database)
    writable.write(() => {
      queries.contents.markCutOffInDoubt()
      queries.runs.endCutOff()
      if (!writable.isOfUnknownAge) return
      queries.foreign.requireSearches()
      if (queries.keyValues.get(SESSION_KEY) !== undefined) queries.keyValues.set(COPIED_KEY, 'true')
    })
    return Object.assign(queries, {
      directory,
      isLocked: () => true,
      mayLackReceipts: () => queries.foreign.isAnySearchDue(),
      findChange: () => writable.findChange(),
      freeBytes: () => freeBytesOf(directory),
      write: (work) => explainFaults(directory, () => writable.write(work)),
      writeRelaxed: (work) => explainFaults(directory, () => writable.writeRelaxed(work)),
      rollBackAfter: (work) => rollBackAfter(database, work),
      [Symbol.dispose]: () => {
        try {
          writable[Symbol.dispose]()
        } finally {
          release()
        }
      },
    } satisfies Omit<Store, keyof StoreQueries>)
  } catch (error) {
    writable.abandon()
    throw error
  }
}

async function rollBackAfter<T>(database: Database.Database, work: () => Promise<T>): Promise<T> {
  database.exec('BEGIN IMMEDIATE')
  try {
    return await work()
  } finally {
    database.exec('ROLLBACK')
  }
}

function specOf(directory: string, migrationsDir = MIGRATIONS): DatabaseSpec {
  return { file: join(directory, 'store.db'), migrationsDir, applicationId: APPLICATION_ID }
}

function lockFileOf(directory: string): string {
  return join(directory, 'lock')
}

function filesOf(directory: string, migrationsDir?: string): StoreFiles {
  return { directory, spec: specOf(directory, migrationsDir), generationFile: join(directory, 'generation') }
}

/** Copies the store to a file beside it (mode 0600); returns the path of the copy. */
export function keepStoreCopy(directory: string, nowMs: number): string {
  const file = join(directory, `store.db.${isoTime(nowMs).replaceAll(':', '-')}.bak`)
  copyStoreTo(directory, file)
  chmodSync(file, 0o600)
  return file
}

/** Opens a temporary copy of the store, which is removed when it is closed. */
export function openStoreCopy(directory: string): Store {
  const copy = mkdtempSync(join(tmpdir(), 'shelfd-copy-'))
  const remove = () => rmSync(copy, { recursive: true, force: true })
  try {
    copyStoreInto(directory, copy)
    const store = openStore(copy)
    return {
      ...store,
      [Symbol.dispose]: () => {
        store[Symbol.dispose]()
        remove()
      },
    }
  } catch (error) {
    remove()
    throw error
  }
}

const TOPICS = {
  mirrors: prepareMirrors,
  directories: prepareDirectories,
  files: prepareFiles,
  scannedFiles: prepareScannedFiles,
  contents: prepareContents,
  uploads: prepareUploads,
  problems: prepareProblems,
  runs: prepareRuns,
  report: prepareReport,
  sentResources: prepareSentResources,
  unusedResources: prepareUnusedResources,
  keyValues: prepareKeyValues,
  quarantine: prepareQuarantine,
  unconfirmed: prepareUnconfirmed,
  foreign: prepareForeign,
  timeline: prepareTimeline,
  settlements: prepareSettlements,
}

const TABLES =
  'meta, library, mirror, directory, content, file, unconfirmed, history, upload, removal, settlement, foreign_entry, problem, run'

type Topics = typeof TOPICS

export type StoreQueries = { readonly [Topic in keyof Topics]: ReturnType<Topics[Topic]> }

/** A topic's queries are prepared at first use: preparing all takes longer than opening. Throws SQLite's error without a table. */
export function prepareQueries(database: Database.Database): StoreQueries {
  database.prepare(`SELECT 1 FROM ${TABLES} LIMIT 0`)
  // By default each transaction on temporary tables writes and truncates a file. They do not outlive the process, so memory is enough.
  database.exec(`PRAGMA temp.journal_mode = MEMORY; ${SCAN_TABLES} ${LISTING_TABLE}`)
  const queries = {}
  for (const [topic, prepare] of Object.entries(TOPICS)) {
    const get = () => {
      const value = prepare(database)
      Object.defineProperty(queries, topic, { value, enumerable: true })
      return value
    }
    Object.defineProperty(queries, topic, { get, enumerable: true, configurable: true })
  }
  return queries as StoreQueries
}

function announceHolder(directory: string): void {
  try {
    writeHolder(holderFileOf(directory), thisProcess())
  } catch {
    // The disk is full, or another file has the name of the note. Only messages need it.
  }
}

/** Removes the note of this process. If the lock file was replaced, another process may have written the note. */
function retractHolder(directory: string): void {
  try {
    if (readStoreHolder(directory)?.pid !== process.pid) return
    rmSync(holderFileOf(directory), { force: true })
  } catch {
    // As in announceHolder: only messages need the note.
  }
}

/** Call it only while the lock is held, because a killed process leaves its note behind. */
function readStoreHolder(directory: string): LockHolder | undefined {
  try {
    return readHolder(holderFileOf(directory), lockHolderShape)
  } catch {
    return undefined
  }
}

function lockedByAnother(directory: string): LockedError {
  const holder = readStoreHolder(directory)
  const whom = holder ? describeHolder(holder) : 'another shelfd'
  return new LockedError(
    'store-locked',
    `The state in "${directory}" is held by ${whom}; wait until it ends, or stop it`,
  )
}

function holderFileOf(directory: string): string {
  return join(directory, 'holder')
}
