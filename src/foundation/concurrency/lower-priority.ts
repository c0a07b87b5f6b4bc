import { setPriority } from 'node:os'
import { systemCodeOf } from '../errors.ts'

/**
 * Without `pid` the calling thread on Linux, and this process elsewhere. Does nothing where the system forbids it, as the systemd unit
 * does.
 */
export function lowerPriority(priority: number, pid = 0): void {
  try {
    setPriority(pid, priority)
  } catch (error) {
    if (systemCodeOf(error) !== 'ERR_SYSTEM_ERROR') throw error
  }
}
