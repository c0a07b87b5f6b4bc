import { setPriority } from 'node:os'
import { systemCodeOf } from '../errors.ts'

/** Does nothing if that is forbidden, as in the systemd unit. `pid` 0 is the calling thread on Linux, and this process elsewhere. */
export function lowerPriority(priority: number, pid = 0): void {
  try {
    setPriority(pid, priority)
  } catch (error) {
    if (systemCodeOf(error) !== 'ERR_SYSTEM_ERROR') throw error
  }
}
