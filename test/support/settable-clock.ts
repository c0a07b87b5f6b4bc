import { renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Variables } from './home.ts'
import { temporaryDirectory } from './temporary.ts'

/** The wall clock of processes that run with `env`: a test sets it while they run. Their monotonic clock goes on. */
export interface SettableClock {
  readonly env: Variables
  /** From now on it differs from the true time by so much. */
  set(byMs: number): void
}

export function settableClock(): SettableClock {
  const file = join(temporaryDirectory(), 'clock')
  const set = (byMs: number) => {
    writeFileSync(`${file}.new`, String(byMs))
    renameSync(`${file}.new`, file)
  }
  set(0)
  const script = `import { readFileSync } from 'node:fs'
    const now = Date.now
    Date.now = () => now() + Number(readFileSync(${JSON.stringify(file)}))`
  return { env: { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(script)}` }, set }
}
