import { closeSync, existsSync, openSync } from 'node:fs'
import Database from 'better-sqlite3'

/** A lock that the kernel releases when its holder ends, however it ends. */
export interface KernelLock extends Disposable {
  release(): void
}

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
    database.pragma('journal_mode = DELETE')
    database.exec('BEGIN EXCLUSIVE')
  } catch (error) {
    database.close()
    if (isBusy(error)) return undefined
    throw error
  }
  const release = () => {
    database.close()
  }
  return { release, [Symbol.dispose]: release }
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

/** SQLite would make it with the umask. One that is there is left alone: closing it would drop a lock of this process. */
function makePrivate(file: string): void {
  if (!existsSync(file)) closeSync(openSync(file, 'a', 0o600))
}

function isBusy(error: unknown): boolean {
  return (
    error instanceof Database.SqliteError && (error.code === 'SQLITE_BUSY' || error.code.startsWith('SQLITE_BUSY_'))
  )
}
