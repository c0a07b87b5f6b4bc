import { closeSync, constants, lstatSync, openSync, rmSync, statSync } from 'node:fs'
import Database from 'better-sqlite3'
import { unusable } from '../files/own-file.ts'
import { isDamage, isDatabaseThere } from './open-database.ts'

/** A lock that the kernel releases in whatever way its holder ends. */
export interface KernelLock extends Disposable {
  /** False if the path no longer names the locked file. */
  isInPlace(): boolean
  /**
   * Returns whether nobody else uses the guarded database, even if the lock file was deleted or replaced: a lock file without the mark of
   * its own inode is new, and then nobody may have the database open.
   */
  isAlone(database: string): boolean
  release(): void
}

// Windows lacks the last flag, and links of this kind.
const APPEND = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | (constants.O_NOFOLLOW ?? 0)

/** How long takeKernelLock waits, because isKernelLockHeld takes a shared lock for an instant. */
const BUSY_MS = 50

/**
 * Takes a lock; returns undefined if it has another holder. Throws OperatorError('store-unusable') for another kind of file. The lock is
 * SQLite's own (fcntl, LockFileEx), which cannot go stale.
 */
export function takeKernelLock(file: string): KernelLock | undefined {
  makePrivate(file)
  const database = new Database(file, { timeout: BUSY_MS })
  try {
    // SQLite need not wait for the disk: if a power cut removes the mark, isAlone sets it again.
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

/** Returns a number that distinguishes a lock file from a later one at the same path, even from a copy. */
function markOf(file: string): number {
  return Number(BigInt.asUintN(64, statSync(file, { bigint: true }).ino) % 0x7fff_ffffn) + 1
}

/** Returns whether anybody has the database open: each connection in WAL mode keeps a shared lock, which excludes an exclusive one. */
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

/** Creates a file (0600), because SQLite would apply the umask and follow a link. Opens no existing file: closing it drops a lock on it. */
function makePrivate(file: string): void {
  if (lstatSync(file, { throwIfNoEntry: false })?.isSymbolicLink()) rmSync(file)
  if (!isDatabaseThere(file)) closeSync(openSync(file, APPEND, 0o600))
}

/** Returns OperatorError('store-unusable') for a file that is damaged or is not a lock file, and any other error unchanged. */
function asUnusable(file: string, error: unknown): unknown {
  return isDamage(error) ? unusable(file, `it is not a lock file of shelfd (${error.message})`) : error
}

function isBusy(error: unknown): boolean {
  return (
    error instanceof Database.SqliteError && (error.code === 'SQLITE_BUSY' || error.code.startsWith('SQLITE_BUSY_'))
  )
}
