import { readFileSync } from 'node:fs'
import { systemCodeOf } from '../../foundation/errors.ts'
import { proposedWatches } from '../../rules/doctor.ts'

/** Whether a watch failed because the system allows no more watches. */
export function isWatchLimit(thrown: unknown): boolean {
  const code = systemCodeOf(thrown)
  if (code === 'ENOSPC' || code === 'EMFILE') return true
  // Native packages throw the system's message without its code.
  return thrown instanceof Error && /No space left on device|Too many open files/i.test(thrown.message)
}

/** A message that names the setting of inotify to raise, with its present value and a proposed one, where the system has it. */
export function describeWatchLimit(thrown: unknown): string {
  const isInstances = systemCodeOf(thrown) === 'EMFILE' || /Too many open files/i.test(String(thrown))
  const name = isInstances ? 'max_user_instances' : 'max_user_watches'
  const present = readInotifySetting(name)
  if (present === undefined) return 'The system allows no more watches'
  const proposed = isInstances ? present * 2 : proposedWatches(present)
  return `The system allows no more watches: fs.inotify.${name} is ${present}; raise it with "sysctl fs.inotify.${name}=${proposed}"`
}

function readInotifySetting(name: string): number | undefined {
  try {
    return Number(readFileSync(`/proc/sys/fs/inotify/${name}`, 'utf8'))
  } catch {
    return undefined
  }
}
