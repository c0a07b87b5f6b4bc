import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A temporary directory for one run of the benchmark; it is removed at the end, also after Ctrl-C. */
export interface Workspace extends Disposable {
  readonly path: string
  /** A path in it that nobody has used yet. */
  fresh(name: string): string
}

export function openWorkspace(): Workspace {
  const path = realpathSync(mkdtempSync(join(tmpdir(), 'shelfd-bench-')))
  // Children that were just told to end may still be writing.
  const remove = () => rmSync(path, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 })
  process.once('exit', remove)
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130))
  let count = 0
  return {
    path,
    fresh: (name) => join(path, `${name}-${++count}`),
    [Symbol.dispose]: remove,
  }
}
