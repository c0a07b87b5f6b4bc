import { accessSync, constants, statfsSync } from 'node:fs'
import Database from 'better-sqlite3'
import { messageOf, OperatorError, ShelfdError, systemCodeOf, TemporaryError } from '../../foundation/errors.ts'
import { DatabaseFaultError, isDamage, isDiskFull, isOutOfReach } from '../../foundation/sqlite/open-database.ts'

/** With less free space the disk counts as full, because SQLite reports no cause when it cannot extend a small file. */
const MIN_FREE_BYTES = 256 * 1_024

/** Runs `work`. Rethrows its faults of SQLite and the system as a ShelfdError that says what is wrong with the store. */
export function explainFaults<T>(directory: string, work: () => T): T {
  try {
    return work()
  } catch (error) {
    throw explain(directory, error)
  }
}

/** Says what the user can do about a lost or damaged store. */
export function recoveryHint(directory: string): string {
  return `restore the whole directory from a backup, or move it away ("mv ${directory} ${directory}.damaged") to start with an empty one`
}

function explain(directory: string, error: unknown): unknown {
  if (error instanceof ShelfdError) return error
  if (isDiskFull(error) || (isOutOfReach(error) && hasNoRoom(directory))) {
    return new TemporaryError('disk-full', `Cannot write the store in "${directory}": its disk is full`, {
      cause: error,
    })
  }
  if (isOutOfReach(error) || (isReadOnly(error) && !mayWrite(directory))) return unusable(directory, error)
  if (error instanceof DatabaseFaultError && error.fault === 'newer') {
    const text = `${error.message}; install the newer shelfd, or use another --state-dir`
    return new OperatorError('store-newer', text, { cause: error })
  }
  if (!isDamage(error) && !(error instanceof DatabaseFaultError)) return error
  const what =
    error instanceof DatabaseFaultError ? error.message : `The store in "${directory}" is damaged: ${error.message}`
  return new OperatorError('store-damaged', `${what}; ${recoveryHint(directory)}`, { cause: error })
}

function unusable(directory: string, error: unknown): OperatorError {
  const isTaken = systemCodeOf(error) === 'EEXIST' || systemCodeOf(error) === 'ENOTDIR'
  const reason = isTaken ? 'a file is in its place' : messageOf(error)
  const text = `Cannot read or write the store in "${directory}": ${reason}`
  const todo = isTaken
    ? 'move that file away, or name a directory with --state-dir'
    : 'check its disk, its permissions and the limit of open files, then run again'
  return new OperatorError('store-unusable', `${text}; ${todo}`, { cause: error })
}

/** Returns true for a damaged header too, because SQLite reports it with the same code as a read-only file system. */
function isReadOnly(error: unknown): boolean {
  const cause = error instanceof DatabaseFaultError ? error.cause : error
  return cause instanceof Database.SqliteError && cause.code.startsWith('SQLITE_READONLY')
}

function mayWrite(directory: string): boolean {
  try {
    accessSync(directory, constants.W_OK)
    return true
  } catch {
    return false
  }
}

function hasNoRoom(directory: string): boolean {
  try {
    const { bavail, bsize } = statfsSync(directory)
    return bavail * bsize < MIN_FREE_BYTES
  } catch {
    return false
  }
}
