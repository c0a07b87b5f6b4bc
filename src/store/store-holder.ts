import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { LockedError } from '../foundation/errors.ts'
import {
  describeHolder,
  type LockHolder,
  lockHolderShape,
  readHolder,
  thisProcess,
  writeHolder,
} from '../foundation/files/lock-holder.ts'

export function announceHolder(directory: string): void {
  try {
    writeHolder(holderFileOf(directory), thisProcess())
  } catch {
    // A full disk, or another file in its place.
  }
}

/** If the lock file was replaced, another process may have written the note. */
export function retractHolder(directory: string): void {
  try {
    if (readStoreHolder(directory)?.pid !== process.pid) return
    rmSync(holderFileOf(directory), { force: true })
  } catch {
    // The same.
  }
}

/** Only for a store whose lock is held, since a killed process leaves its file. */
export function readStoreHolder(directory: string): LockHolder | undefined {
  try {
    return readHolder(holderFileOf(directory), lockHolderShape)
  } catch {
    return undefined
  }
}

export function lockedByAnother(directory: string): LockedError {
  const holder = readStoreHolder(directory)
  const whom = holder ? describeHolder(holder) : 'another shelfd'
  return new LockedError(
    'store-locked',
    `The state in "${directory}" is held by ${whom}; wait until it ends, or stop it`,
  )
}

function holderFileOf(directory: string): string {
  return join(directory, 'holder')
}
