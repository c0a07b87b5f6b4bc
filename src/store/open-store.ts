import { existsSync, statfsSync } from 'node:fs'
import { join } from 'node:path'
import type Database from 'better-sqlite3'
import { LockedError } from '../foundation/errors.ts'
import { assertOwnDirectory, makeOwnDirectory } from '../foundation/private-directory.ts'
import { isKernelLockHeld, takeKernelLock } from '../foundation/sqlite/kernel-lock.ts'
import { type DatabaseSpec, hasOlderSchema, openDatabaseReadOnly } from '../foundation/sqlite/open-database.ts'
import { explainFaults } from './explain-faults.ts'
import { readGenerationNote } from './generation.ts'
import { HeldDatabase } from './held-database.ts'
import { prepareQueries, type StoreQueries } from './store-queries.ts'
import { isElsewhere, lostStore, noteClosed, verifyForReading, verifyStore } from './verify-store.ts'

const APPLICATION_ID = 0x73686c66 // "shlf"

/** What may be asked of a store without holding it. */
export interface StoreReader extends StoreQueries, Disposable {
  /** Whether somebody holds the store now: what it calls `sending` is on its way, otherwise it was cut off. */
  isHeld(): boolean
  /** It was restored, copied, or is new beside a full library: what it may lack is looked for before anything is sent. */
  mayLack(): boolean
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
  const lock = takeKernelLock(lockFileOf(directory))
  if (!lock) throw heldByAnother(directory)
  try {
    const files = filesOf(directory)
    const verified = verifyStore(files)
    if (!lock.isAlone(files.spec.file)) throw heldByAnother(directory)
    const store = holdStore(new HeldDatabase(files, verified), directory, () => lock.release())
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
  const files = filesOf(directory)
  const { spec } = files
  if (!existsSync(spec.file)) {
    if (existsSync(files.noteFile)) throw lostStore(directory)
    return undefined
  }
  let note = readGenerationNote(files.noteFile)
  let database = explainFaults(directory, () => openDatabaseReadOnly(spec))
  if (hasOlderSchema(database, spec)) {
    database.close()
    // Opening it for writing migrates it.
    openStore(directory)[Symbol.dispose]()
    note = readGenerationNote(files.noteFile)
    database = explainFaults(directory, () => openDatabaseReadOnly(spec))
  }
  try {
    explainFaults(directory, () => verifyForReading(files, note, database))
  } catch (error) {
    database.close()
    throw error
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
  const queries = prepareQueries(database)
  const mayLack = () => queries.untracked.isAnyLookDue() || (isElsewhere(files, note) && !isHeld())
  return { ...queries, isHeld, mayLack, renewView, [Symbol.dispose]: () => database.close() }
}

/** Writes what the store in `directory` holds now into the directory `target`, beside its holder. */
export function copyStoreInto(directory: string, target: string): void {
  const { spec, noteFile } = filesOf(target)
  copyStoreTo(directory, spec.file)
  noteClosed(spec, noteFile)
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

function holdStore(held: HeldDatabase, directory: string, release: () => void): Store {
  const { database } = held
  try {
    const queries = prepareQueries(database)
    held.write(() => {
      queries.contents.doubtCutOff()
      if (held.isOfUnknownAge) queries.untracked.demandLooks()
    })
    return {
      directory,
      ...queries,
      isHeld: () => true,
      mayLack: () => queries.untracked.isAnyLookDue(),
      isInPlace: () => held.isInPlace,
      freeBytes: () => {
        const { bavail, bsize } = statfsSync(directory)
        return bavail * bsize
      },
      write: (work) => explainFaults(directory, () => held.write(work)),
      writeRelaxed: (work) => explainFaults(directory, () => held.writeRelaxed(work)),
      rehearse: (work) => rehearse(database, work),
      [Symbol.dispose]: () => {
        try {
          held[Symbol.dispose]()
        } finally {
          release()
        }
      },
    }
  } catch (error) {
    held.abandon()
    throw error
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

function filesOf(directory: string) {
  return { directory, spec: specOf(directory), noteFile: join(directory, 'generation') }
}
