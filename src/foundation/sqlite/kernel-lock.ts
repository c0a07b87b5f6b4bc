import { closeSync, constants, existsSync, lstatSync, openSync, rmSync, statSync } from 'node:fs'
import Database from 'better-sqlite3'

/** A lock that the kernel releases when its holder ends, however it ends. */
export interface KernelLock extends Disposable {
  /** False when the path no longer names the file that is locked. */
  isInPlace(): boolean
  /**
   * Whether nobody works with the database that the lock is for. A lock file that was deleted or replaced does not let a second
   * one in: each bears the mark of its own inode, and behind one that lacks it nobody may have the database open. As any
   * opening does, this plays back what a crash left in the log.
   */
  isAlone(database: string): boolean
  release(): void
}

// Windows has no links of this kind, and no such flag.
const APPEND = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | (constants.O_NOFOLLOW ?? 0)

/** Who only looks whether the lock is held has a shared one for an instant; that must not count as a holder. */
const LOOKING_MS = 50

/**
 * Takes the exclusive lock on `file` (made if absent, mode 0600) at once; undefined when another holder has it.
 * It is SQLite's own file lock (fcntl, LockFileEx): no PID file, nothing to go stale.
 */
export function takeKernelLock(file: string): KernelLock | undefined {
  makePrivate(file)
  const database = new Database(file, { timeout: LOOKING_MS })
  try {
    // No journal is left behind, and nothing waits for the disk: a mark that a power cut takes is made again.
    for (const setting of ['journal_mode = MEMORY', 'synchronous = OFF', 'locking_mode = EXCLUSIVE'])
      database.pragma(setting)
    // The lock outlives the transaction: that is what EXCLUSIVE means.
    database.exec('BEGIN EXCLUSIVE; COMMIT')
  } catch (error) {
    database.close()
    if (isBusy(error)) return undefined
    throw error
  }
  const { ino } = statSync(file)
  const release = () => {
    database.close()
  }
  const isInPlace = () => statSync(file, { throwIfNoEntry: false })?.ino === ino
  const isAlone = (guarded: string) => {
    const mark = markOf(file)
    if (Number(database.pragma('user_version', { simple: true })) === mark) return true
    if (isDatabaseInUse(guarded)) return false
    database.pragma(`user_version = ${mark}`)
    return true
  }
  return { isInPlace, isAlone, release, [Symbol.dispose]: release }
}

/** Tells a lock file from a later one of the same path, whatever was copied into that. */
function markOf(file: string): number {
  return Number(statSync(file, { bigint: true }).ino % 0x7fff_ffffn) + 1
}

/** Whether anybody, in whatever process, has the database open: each connection in WAL mode keeps a shared lock on it. */
function isDatabaseInUse(file: string): boolean {
  if (!existsSync(file)) return false
  const database = new Database(file, { timeout: 0 })
  try {
    database.pragma('locking_mode = EXCLUSIVE')
    database.prepare('SELECT count(*) FROM sqlite_schema').get()
    return false
  } catch (error) {
    // What else is wrong with it is for its opening to tell.
    return isBusy(error)
  } finally {
    database.close()
  }
}

/** Whether somebody holds the lock on `file` now, in whatever process. */
export function isKernelLockHeld(file: string): boolean {
  if (!existsSync(file)) return false
  const database = new Database(file, { readonly: true, timeout: 0 })
  try {
    database.prepare('SELECT count(*) FROM sqlite_schema').get()
    return false
  } catch (error) {
    if (isBusy(error)) return true
    throw error
  } finally {
    database.close()
  }
}

/**
 * SQLite would make it with the umask, and follow a link that somebody put there. One that is there is left alone: closing it
 * would drop a lock of this process.
 */
function makePrivate(file: string): void {
  if (lstatSync(file, { throwIfNoEntry: false })?.isSymbolicLink()) rmSync(file)
  if (!existsSync(file)) closeSync(openSync(file, APPEND, 0o600))
}

function isBusy(error: unknown): boolean {
  return (
    error instanceof Database.SqliteError && (error.code === 'SQLITE_BUSY' || error.code.startsWith('SQLITE_BUSY_'))
  )
}
