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
  const remove = () => rmSync(path, { recursive: true, force: true })
  const stop = () => {
    remove()
    process.exit(130)
  }
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, stop)
  let count = 0
  return {
    path,
    fresh: (name) => join(path, `${name}-${++count}`),
    [Symbol.dispose]: remove,
  }
}
