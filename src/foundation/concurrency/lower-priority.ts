import { setPriority } from 'node:os'
import { systemCodeOf } from '../errors.ts'

/** `pid` 0 is the calling thread on Linux, and this process elsewhere. Does nothing where that is forbidden, as by the systemd unit. */
export function lowerPriority(priority: number, pid = 0): void {
  try {
    setPriority(pid, priority)
  } catch (error) {
    if (systemCodeOf(error) !== 'ERR_SYSTEM_ERROR') throw error
  }
}
