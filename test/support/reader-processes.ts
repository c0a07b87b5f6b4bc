import { readdirSync, readFileSync } from 'node:fs'

/** The processes that read documents for the embedded libraries of this process. */
export function readerProcesses(): number[] {
  return readdirSync('/proc/self/task')
    .flatMap((thread) => readFileSync(`/proc/self/task/${thread}/children`, 'utf8').split(' '))
    .filter((pid) => pid.trim() !== '' && isReader(pid))
    .map(Number)
}

function isReader(pid: string): boolean {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('/ingest/child-process/child.')
  } catch {
    return false
  }
}

/** Whether a process runs; one that has ended may still be there for its parent. */
export function isRunning(pid: string): boolean {
  try {
    return !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
  } catch {
    return false
  }
}
