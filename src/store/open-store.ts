import { existsSync, statfsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type Database from 'better-sqlite3'
import { LockedError, OperatorError } from '../foundation/errors.ts'
import { assertOwnDirectory, makeOwnDirectory } from '../foundation/private-directory.ts'
import { isKernelLockHeld, takeKernelLock } from '../foundation/sqlite/kernel-lock.ts'
import {
  type DatabaseSpec,
  hasOlderSchema,
  isDiskFull,
  isOutOfReach,
  openDatabase,
  openDatabaseReadOnly,
} from '../foundation/sqlite/open-database.ts'
import { explainFaults, wayBack } from './explain-faults.ts'
import { readGenerationNote, wasClosedOrderly, writeGenerationNote } from './generation.ts'
import { prepareQueries, type StoreQueries } from './store-queries.ts'

const APPLICATION_ID = 0x73686c66 // "shlf"

/** What may be asked of a store without holding it. */
export interface StoreReader extends StoreQueries, Disposable {
  /** Whether somebody holds the store now: what it calls `sending` is on its way, otherwise it was cut off. */
  isHeld(): boolean
}

/** A store that someone else holds. */
export interface StoreView extends StoreReader {
  /** Begins a view of the store as it is now, and ends the one before: many small reads then cost one lock. */
  renewView(): void
}

/** The state store, held by this process alone. Every query is prepared once; writes happen inside `write`. */
export interface Store extends StoreReader {
  readonly directory: string
  /** False when its file was deleted or replaced while it is open: nothing written from now on would last. */
  isInPlace(): boolean
  /** Bytes that are free for this user where the store lies. */
  freeBytes(): number
  /** Runs `work` in one transaction (`BEGIN IMMEDIATE`); it is durable when this returns. */
  write<T>(work: () => T): T
  /**
   * The same for what can be seen again, by a scan or a question, without waiting for the disk: after a power cut it may be
   * missing, whole transactions of it. The next `write` makes it durable.
   */
  writeRelaxed<T>(work: () => T): T
  /** Runs `work` and then forgets everything it wrote: what a dry run needs. */
  rehearse<T>(work: () => Promise<T>): Promise<T>
}

/**
 * Opens (or makes) the store in `directory`, 0700 with files 0600, and holds it.
 * Throws LockedError when another process does, OperatorError when it is damaged, lost, out of reach or of a newer version.
 */
export function openStore(directory: string): Store {
  return explainFaults(directory, () => lockAndHold(directory))
}

function lockAndHold(directory: string): Store {
  makeOwnDirectory(directory)
  const lock = takeKernelLock(lockFileOf(directory), specOf(directory).file)
  if (!lock) throw heldByAnother(directory)
  try {
    const store = holdStore(directory, () => lock.release())
    // Whoever replaced the lock file before the database was open may have let another one in.
    if (lock.isInPlace()) return store
    store[Symbol.dispose]()
    throw heldByAnother(directory)
  } catch (error) {
    lock.release()
    throw error
  }
}

/**
 * Opens an existing store for reading beside its holder; undefined when there is none yet. A store of an older version is
 * migrated first; throws LockedError when its holder is of that version too.
 */
export function openStoreReader(directory: string): StoreView | undefined {
  assertOwnDirectory(directory, { isReader: true })
  const spec = specOf(directory)
  if (!existsSync(spec.file)) {
    if (existsSync(noteFileOf(directory))) throw lostStore(directory)
    return undefined
  }
  let database = explainFaults(directory, () => openDatabaseReadOnly(spec))
  if (hasOlderSchema(database, spec)) {
    database.close()
    // Opening it for writing migrates it.
    openStore(directory)[Symbol.dispose]()
    database = explainFaults(directory, () => openDatabaseReadOnly(spec))
  }
  // Somebody is just making it.
  if (database.pragma('user_version', { simple: true }) === 0) {
    database.close()
    return undefined
  }
  const renewView = () => {
    if (database.inTransaction) database.exec('COMMIT')
    database.exec('BEGIN')
  }
  const isHeld = () => isKernelLockHeld(lockFileOf(directory))
  return { ...prepareQueries(database), isHeld, renewView, [Symbol.dispose]: () => database.close() }
}

/** Writes what the store in `directory` holds now into the directory `target`, beside its holder. */
export function copyStoreInto(directory: string, target: string): void {
  copyStoreTo(directory, specOf(target).file)
}

/** The same into a file, which must not exist. */
export function copyStoreTo(directory: string, file: string): void {
  const database = explainFaults(directory, () => openDatabaseReadOnly(specOf(directory)))
  try {
    database.prepare('VACUUM INTO ?').run(file)
  } finally {
    database.close()
  }
}

function holdStore(directory: string, release: () => void): Store {
  const spec = specOf(directory)
  const generation = verifyGeneration(directory, spec)
  const database = openDatabase({ ...spec, isSuspect: generation.isSuspect })
  try {
    advanceGeneration(database, directory)
    const queries = prepareQueries(database)
    database.transaction(() => queries.contents.doubtCutOff()).immediate()
    const { ino } = statSync(spec.file)
    return {
      directory,
      ...queries,
      isHeld: () => true,
      isInPlace: () => statSync(spec.file, { throwIfNoEntry: false })?.ino === ino,
      freeBytes: () => {
        const { bavail, bsize } = statfsSync(directory)
        return bavail * bsize
      },
      write: (work) => explainFaults(directory, () => database.transaction(work).immediate()),
      writeRelaxed: (work) => explainFaults(directory, () => writeRelaxed(database, work)),
      rehearse: (work) => rehearse(database, work),
      [Symbol.dispose]: () => {
        try {
          closeOrderly(database, directory)
        } finally {
          release()
        }
      },
    }
  } catch (error) {
    database.close()
    throw error
  }
}

/** `synchronous` can't be changed inside a transaction, so a rehearsal keeps what it has. */
function writeRelaxed<T>(database: Database.Database, work: () => T): T {
  const transaction = database.transaction(work)
  if (database.inTransaction) return transaction()
  database.pragma('synchronous = NORMAL')
  try {
    return transaction.immediate()
  } finally {
    database.pragma('synchronous = FULL')
  }
}

async function rehearse<T>(database: Database.Database, work: () => Promise<T>): Promise<T> {
  database.exec('BEGIN IMMEDIATE')
  try {
    return await work()
  } finally {
    database.exec('ROLLBACK')
  }
}

function heldByAnother(directory: string): LockedError {
  return new LockedError('store-locked', `Another shelfd holds the store in "${directory}"; wait for it or stop it`)
}

function specOf(directory: string): DatabaseSpec {
  const migrationsDir = join(import.meta.dirname, 'migrations')
  return { file: join(directory, 'store.db'), migrationsDir, applicationId: APPLICATION_ID }
}

function lockFileOf(directory: string): string {
  return join(directory, 'lock')
}

function noteFileOf(directory: string): string {
  return join(directory, 'generation')
}

/** Before anything is written: the store must have been opened as often as its note says. */
function verifyGeneration(directory: string, spec: DatabaseSpec): { isSuspect: boolean } {
  const note = readGenerationNote(noteFileOf(directory))
  if (note === undefined) return { isSuspect: existsSync(spec.file) }
  if (!existsSync(spec.file)) throw lostStore(directory)
  if (note === null) return { isSuspect: true }
  const isSuspect = !wasClosedOrderly(spec.file, note)
  const found = readGeneration({ ...spec, isSuspect })
  if (found < note.generation) {
    const counts = `it was opened ${found} times, its note says ${note.generation}`
    const text = `The store in "${directory}" is an older copy, or lost its write-ahead log: ${counts}`
    throw new OperatorError('store-damaged', `${text}; ${wayBack(directory)}`)
  }
  return { isSuspect: false }
}

function readGeneration(spec: DatabaseSpec): number {
  const database = openDatabaseReadOnly(spec)
  try {
    const isEmpty = database.pragma('user_version', { simple: true }) === 0
    return isEmpty ? 0 : generationOf(database)
  } finally {
    database.close()
  }
}

function generationOf(database: Database.Database): number {
  const read = database.prepare<[], { value: string }>("SELECT value FROM meta WHERE key = 'generation'")
  return Number(read.get()?.value ?? 0)
}

function advanceGeneration(database: Database.Database, directory: string): void {
  const generation = generationOf(database) + 1
  const write = database.prepare<[string]>("INSERT OR REPLACE INTO meta (key, value) VALUES ('generation', ?)")
  database.transaction(() => write.run(String(generation))).immediate()
  writeGenerationNote(noteFileOf(directory), { generation, closedSizeBytes: null })
}

function closeOrderly(database: Database.Database, directory: string): void {
  const file = database.name
  const note = readGenerationNote(noteFileOf(directory))
  database.close()
  if (!note || !existsSync(file)) return
  try {
    writeGenerationNote(noteFileOf(directory), { ...note, closedSizeBytes: statSync(file).size })
  } catch (error) {
    // The old note says that the store is open: the next opening looks at it more closely, as after a crash.
    if (!isDiskFull(error) && !isOutOfReach(error)) throw error
  }
}

function lostStore(directory: string): OperatorError {
  return new OperatorError(
    'store-damaged',
    `The store in "${directory}" is gone, its note is still there; ${wayBack(directory)}`,
  )
}
