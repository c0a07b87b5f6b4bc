import { closeSync, constants, lstatSync, openSync, rmSync, statSync } from 'node:fs'
import Database from 'better-sqlite3'
import { unusable } from '../files/own-file.ts'
import { isDamage, isDatabaseThere } from './open-database.ts'

/** A lock that the kernel releases when its holder ends, however it ends. */
export interface KernelLock extends Disposable {
  /** False if the path no longer names the locked file. */
  isInPlace(): boolean
  /**
   * Returns whether nobody else works with the database that the lock guards. Deleting or replacing a lock file lets no second
   * holder in: each lock file has the mark of its own inode, and if that is missing, nobody may have the database open. Like
   * any opening, that check replays what a crash left in the log.
   */
  isAlone(database: string): boolean
  release(): void
}

// Windows has neither such links nor this flag.
const APPEND = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | (constants.O_NOFOLLOW ?? 0)

/** isKernelLockHeld has a shared lock for an instant; takeKernelLock waits that long, so as not to take it for a holder. */
const LOOKING_MS = 50

/**
 * Takes the exclusive lock on `file` (created if absent, mode 0600); returns undefined if another holder has it, throws
 * OperatorError('store-unusable') for what is no lock file. The lock is SQLite's own (fcntl, LockFileEx): no PID file can go stale.
 */
export function takeKernelLock(file: string): KernelLock | undefined {
  makePrivate(file)
  const database = new Database(file, { timeout: LOOKING_MS })
  try {
    // SQLite leaves no journal and does not wait for the disk: if a power cut takes the mark, isAlone sets it again.
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

/** Distinguishes a lock file from a later one at the same path, even if that is a copy. */
function markOf(file: string): number {
  return Number(BigInt.asUintN(64, statSync(file, { bigint: true }).ino) % 0x7fff_ffffn) + 1
}

/** Returns whether any process has the database open: each connection in WAL mode keeps a shared lock on it. */
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

/** Returns whether any process holds the lock on `file` now. */
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

/**
 * Creates the file, because SQLite would apply the umask and follow a link that somebody put there. Does not open an
 * existing file: closing it would drop a lock of this process.
 */
function makePrivate(file: string): void {
  if (lstatSync(file, { throwIfNoEntry: false })?.isSymbolicLink()) rmSync(file)
  if (!isDatabaseThere(file)) closeSync(openSync(file, APPEND, 0o600))
}

/** A lock file holds nothing, so that any other one can take its place. */
function asUnusable(file: string, error: unknown): unknown {
  return isDamage(error) ? unusable(file, `it is no lock file of shelfd (${error.message})`) : error
}

function isBusy(error: unknown): boolean {
  return (
    error instanceof Database.SqliteError && (error.code === 'SQLITE_BUSY' || error.code.startsWith('SQLITE_BUSY_'))
  )
}
