import { lstatSync, mkdirSync, statSync } from 'node:fs'
import { UsageError } from './errors.ts'
import { findIntruder, ownUid } from './ownership.ts'

/** Makes `directory` (0700, also those above it that are missing) unless it is there; throws as `assertOwnDirectory`. */
export function makeOwnDirectory(directory: string): void {
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  assertOwnDirectory(directory)
}

/**
 * Throws UsageError('insecure-file') when `directory` belongs to another user or others can write into it: they could have
 * put links or a store of their own there. `isReader`: root may look into what belongs to others. Nothing there is fine.
 */
export function assertOwnDirectory(directory: string, { isReader = false } = {}): void {
  const found = statSync(directory, { throwIfNoEntry: false })
  if (!found) return
  const looksOn = isReader && ownUid() === 0
  const { uid, gid } = lstatSync(directory)
  // A link is as good as who made it.
  const intruder =
    findIntruder(directory, { uid, gid, mode: 0 }, { owners: looksOn ? 'anyone' : 'root', isTree: true }) ??
    findIntruder(directory, found, { owners: looksOn ? 'anyone' : 'nobody', isTree: true })
  if (!intruder) return
  const text = `Cannot keep anything in "${directory}": ${intruder.why}`
  throw new UsageError('insecure-file', `${text}; run: ${intruder.mend}, or choose another directory`)
}
