import { createHash, randomUUID } from 'node:crypto'
import { readdirSync, rmSync } from 'node:fs'
import { hostname } from 'node:os'
import { systemCodeOf } from '../errors.ts'
import type { HeldDirectory } from './trusted-path.ts'

/** The names of files that are not finished yet tell the machine and the process, so that what a kill left is known. */
const MACHINE = createHash('sha256').update(hostname()).digest('hex').slice(0, 8)
const LEFTOVER = new RegExp(`^\\.shelfd-${MACHINE}-(\\d+)-[-0-9a-f]{36}\\.partial$`)

/** Directories in which this process has looked for what others left. */
const tidied = new Set<string>()

/** Returns a name for an unfinished file; with the first one in a directory, removes those of processes of this machine that have ended. */
export function unfinishedIn(directory: HeldDirectory): string {
  if (!tidied.has(directory.realPath)) removeLeftovers(directory)
  tidied.add(directory.realPath)
  return directory.at(`.shelfd-${MACHINE}-${process.pid}-${randomUUID()}.partial`)
}

function removeLeftovers(directory: HeldDirectory): void {
  for (const name of listNames(directory)) {
    const pid = Number(LEFTOVER.exec(name)?.[1] ?? 0)
    if (pid > 0 && !isProcess(pid)) rmSync(directory.at(name), { force: true })
  }
}

/** Empty for a directory that may be written but not listed. */
function listNames(directory: HeldDirectory): string[] {
  try {
    return readdirSync(directory.at('.'))
  } catch {
    return []
  }
}

function isProcess(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return systemCodeOf(error) !== 'ESRCH'
  }
}

/** Whether a hard link failed because the file system has none, as FAT: a file is copied there, which replaces nothing either. */
export function hasNoLinks(error: unknown): boolean {
  return ['EPERM', 'ENOSYS', 'ENOTSUP', 'EOPNOTSUPP', 'EMLINK'].includes(systemCodeOf(error) ?? '')
}
