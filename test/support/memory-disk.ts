import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, rmSync } from 'node:fs'
import { freemem, tmpdir } from 'node:os'
import { join } from 'node:path'
import { missingOf } from './programs.ts'

/** There is room for what the tests of a whole run leave behind. */
const ENOUGH_BYTES = 4 * 2 ** 30

/**
 * Where whole programs under test have their files: a disk in memory, where flushing costs nothing. Undefined if nobody may
 * mount it here, or TMPDIR names another place.
 */
export const MEMORY_DISK =
  missingOf(['mounts', 'mount', 'umount']).length === 0 && process.env.TMPDIR === undefined && freemem() > ENOUGH_BYTES
    ? join(tmpdir(), `shelfd-memory-${process.pid}`)
    : undefined

/** Runs before all tests, for the first project that wants it. */
export default function setup(): () => void {
  if (MEMORY_DISK === undefined || existsSync(MEMORY_DISK)) return () => {}
  mkdirSync(MEMORY_DISK)
  // Where that fails after all, it is a directory like others.
  spawnSync('mount', ['-t', 'tmpfs', '-o', 'mode=1777', 'tmpfs', MEMORY_DISK])
  return () => {
    spawnSync('umount', ['--lazy', MEMORY_DISK])
    rmSync(MEMORY_DISK, { recursive: true, force: true })
  }
}
