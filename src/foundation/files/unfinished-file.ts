import { createHash, randomUUID } from 'node:crypto'
import { readdirSync, rmSync } from 'node:fs'
import { hostname } from 'node:os'
import { systemCodeOf } from '../errors.ts'
import type { HeldDirectory } from './trusted-path.ts'

/** Names of unfinished files contain machine and process, so that the files of an ended process are recognized. */
const MACHINE = createHash('sha256').update(hostname()).digest('hex').slice(0, 8)
const LEFTOVER = new RegExp(`^\\.shelfd-${MACHINE}-(\\d+)-[-0-9a-f]{36}\\.partial$`)

/** Directories in which this process has removed the unfinished files of ended processes. */
const tidied = new Set<string>()

/** Returns a path for an unfinished file. The first call in a directory removes the unfinished files of this machine's ended processes. */
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

/** Returns whether the file system, such as FAT, has no hard links. The caller then copies the file, which replaces nothing either. */
export function isLinkUnsupported(error: unknown): boolean {
  return ['EPERM', 'ENOSYS', 'ENOTSUP', 'EOPNOTSUPP', 'EMLINK'].includes(systemCodeOf(error) ?? '')
}
