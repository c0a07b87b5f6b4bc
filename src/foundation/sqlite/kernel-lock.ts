import { closeSync, constants, lstatSync, openSync, rmSync, statSync } from 'node:fs'
import Database from 'better-sqlite3'
import { unusable } from '../files/own-file.ts'
import { isDamage, isDatabaseThere } from './open-database.ts'

/** The kernel releases it however its holder ends. */
export interface KernelLock extends Disposable {
  /** False if the path no longer names the locked file. */
  isInPlace(): boolean
  /**
   * Returns whether nobody else uses the guarded database. A deleted or replaced lock file admits no second holder: each has the mark of
   * its own inode, and without the mark nobody may have the database open.
   */
  isAlone(database: string): boolean
  release(): void
}

// Windows has neither such links nor this flag.
const APPEND = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | (constants.O_NOFOLLOW ?? 0)

/** isKernelLockHeld takes a shared lock for an instant; takeKernelLock waits that long. */
const LOOKING_MS = 50

/**
 * Undefined if another holder has it; throws OperatorError('store-unusable') for another kind of file. SQLite's own lock (fcntl,
 * LockFileEx) cannot go stale.
 */
export function takeKernelLock(file: string): KernelLock | undefined {
  makePrivate(file)
  const database = new Database(file, { timeout: LOOKING_MS })
  try {
    // SQLite does not wait for the disk: if a power cut takes the mark, isAlone sets it again.
    for (const setting of ['journal_mode = MEMORY', 'synchronous = OFF', 'locking_mode = EXCLUSIVE'])
      database.pragma(setting)
    // In EXCLUSIVE mode SQLite keeps the lock after the transaction.
    database.exec('BEGIN EXCLUSIVE; COMMIT')
  } catch (error) {
    database.close()
    if (isBusy(error)) return undefined
    throw asUnusable(file, error)
  }
  const { ino } = statSync(file, { bigint: true })
  const release = () => {
    database.close()
  }
  const isInPlace = () => statSync(file, { bigint: true, throwIfNoEntry: false })?.ino === ino
  const isAlone = (guarded: string) => {
    const mark = markOf(file)
    if (Number(database.pragma('user_version', { simple: true })) === mark) return true
    if (isDatabaseInUse(guarded)) return false
    database.pragma(`user_version = ${mark}`)
    return true
  }
  return { isInPlace, isAlone, release, [Symbol.dispose]: release }
}

/** Distinguishes a lock file from a later one at the same path, even from a copy. */
function markOf(file: string): number {
  return Number(BigInt.asUintN(64, statSync(file, { bigint: true }).ino) % 0x7fff_ffffn) + 1
}

/** Each connection in WAL mode keeps a shared lock on the database. */
function isDatabaseInUse(file: string): boolean {
  if (!isDatabaseThere(file)) return false
  const database = new Database(file, { timeout: 0 })
  try {
    database.pragma('locking_mode = EXCLUSIVE')
    database.prepare('SELECT count(*) FROM sqlite_schema').get()
    return false
  } catch (error) {
    // Opening the database reports any other fault.
    return isBusy(error)
  } finally {
    database.close()
  }
}

export function isKernelLockHeld(file: string): boolean {
  if (!isDatabaseThere(file)) return false
  const database = new Database(file, { readonly: true, timeout: 0 })
  try {
    database.prepare('SELECT count(*) FROM sqlite_schema').get()
    return false
  } catch (error) {
    if (isBusy(error)) return true
    throw asUnusable(file, error)
  } finally {
    database.close()
  }
}

/** SQLite would apply the umask and follow a link. An existing file is not opened, since closing it would drop a lock of this process. */
function makePrivate(file: string): void {
  if (lstatSync(file, { throwIfNoEntry: false })?.isSymbolicLink()) rmSync(file)
  if (!isDatabaseThere(file)) closeSync(openSync(file, APPEND, 0o600))
}

/** A lock file holds nothing, so that any other one can take its place. */
function asUnusable(file: string, error: unknown): unknown {
  return isDamage(error) ? unusable(file, `it is not a lock file of shelfd (${error.message})`) : error
}

function isBusy(error: unknown): boolean {
  return (
    error instanceof Database.SqliteError && (error.code === 'SQLITE_BUSY' || error.code.startsWith('SQLITE_BUSY_'))
  )
}
