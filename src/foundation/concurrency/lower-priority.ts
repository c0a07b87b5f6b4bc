import { setPriority } from 'node:os'
import { systemCodeOf } from '../errors.ts'

/**
 * Gives a process this priority; without `pid` the calling thread on Linux, and this whole process elsewhere. Does nothing for a
 * process that has ended, and where the system forbids it, as the systemd unit does, which gives the service a low one itself.
 */
export function lowerPriority(priority: number, pid = 0): void {
  try {
    setPriority(pid, priority)
  } catch (error) {
    if (systemCodeOf(error) !== 'ERR_SYSTEM_ERROR') throw error
  }
}
