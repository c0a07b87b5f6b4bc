import { chmodSync } from 'node:fs'
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
  const database = new Database(file, { timeout: 0 })
  try {
    database.pragma('journal_mode = DELETE')
    database.exec('BEGIN EXCLUSIVE')
    chmodSync(file, 0o600)
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

function isBusy(error: unknown): boolean {
  return (
    error instanceof Database.SqliteError && (error.code === 'SQLITE_BUSY' || error.code.startsWith('SQLITE_BUSY_'))
  )
}
