/** Runs with each file of tests, and keeps how much processor time the file took. */
import { readFileSync } from 'node:fs'
import { afterAll } from 'vitest'

declare module 'vitest' {
  interface TaskMeta {
    /** Of a file: processor time of its process and of those that this process started and that have ended. */
    processorMs?: number
  }
}

/** What /proc counts in, on every architecture. */
const TICK_MS = 10

const beganMs = processorMs()

// biome-ignore lint/correctness/noEmptyPattern: vitest accepts no other form of a context that is not used
afterAll(({}, { file }) => {
  file.meta.processorMs = processorMs() - beganMs
})

function processorMs(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1_000 + childrenMs()
}

/** Returns 0 where the system has no such file. */
function childrenMs(): number {
  try {
    const stat = readFileSync('/proc/self/stat', 'utf8')
    const afterName = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    const [user = 0, system = 0] = afterName.slice(13, 15).map(Number)
    return (user + system) * TICK_MS
  } catch {
    return 0
  }
}
