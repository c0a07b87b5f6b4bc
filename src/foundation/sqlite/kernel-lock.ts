import { closeSync, existsSync, openSync } from 'node:fs'
import Database from 'better-sqlite3'

/** A lock that the kernel releases when its holder ends, however it ends. */
export interface KernelLock extends Disposable {
  release(): void
}

/**
 * Takes the exclusive lock on `file` (made if absent, mode 0600) without waiting; undefined when another holder has it.
 * It is SQLite's own file lock (fcntl, LockFileEx): no PID file, nothing to go stale.
 */
export function takeKernelLock(file: string): KernelLock | undefined {
  makePrivate(file)
  const database = new Database(file, { timeout: 0 })
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

/** SQLite would make it with the umask. One that is there is left alone: closing it would drop a lock of this process. */
function makePrivate(file: string): void {
  if (!existsSync(file)) closeSync(openSync(file, 'a', 0o600))
}

function isBusy(error: unknown): boolean {
  return (
    error instanceof Database.SqliteError && (error.code === 'SQLITE_BUSY' || error.code.startsWith('SQLITE_BUSY_'))
  )
}
