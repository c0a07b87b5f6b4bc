import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A temporary directory for one run; it is removed at the end of the process at the latest. */
export interface Workspace extends Disposable {
  readonly path: string
  /** A path in it that nobody has used yet. */
  fresh(name: string): string
}

/** `name` distinguishes the runs of several programs. */
export function openWorkspace(name: string): Workspace {
  const path = realpathSync(mkdtempSync(join(tmpdir(), `shelfd-${name}-`)))
  // Children that were just ended may still be writing.
  const remove = () => rmSync(path, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 })
  process.once('exit', remove)
  let count = 0
  return { path, fresh: (name) => join(path, `${name}-${++count}`), [Symbol.dispose]: remove }
}
