import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { freemem, tmpdir } from 'node:os'
import { join } from 'node:path'
import { missingOf } from './programs.ts'

/** True if the system lets this process mount: in many containers it refuses root, too. */
export const mayMount = hasCapability(21)

/** There is room for what the tests of a whole run leave behind. */
const ENOUGH_BYTES = 4 * 2 ** 30

/**
 * Where whole programs under test have their files: a disk in memory, where flushing costs nothing. Undefined if nobody may
 * mount it here, or TMPDIR names another place.
 */
export const MEMORY_DISK =
  mayMount &&
  missingOf(['mount', 'umount']).length === 0 &&
  process.env.TMPDIR === undefined &&
  freemem() > ENOUGH_BYTES
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

/** Capabilities of Linux have numbers, such as 21 for CAP_SYS_ADMIN. */
function hasCapability(number: number): boolean {
  try {
    const [, effective = '0'] = /^CapEff:\s*(\S+)$/m.exec(readFileSync('/proc/self/status', 'utf8')) ?? []
    return ((BigInt(`0x${effective}`) >> BigInt(number)) & 1n) === 1n
  } catch {
    return false // not Linux
  }
}
