import { globSync, statSync } from 'node:fs'
import { basename, join } from 'node:path'
import { indexCommand, isXapianInstalled, openXapian } from '../../support/xapian.ts'
import { COMMON_WORDS } from './library-texts.ts'
import { median } from './pairs.ts'
import { type Measure, runProcess } from './run-process.ts'
import type { Workspace } from './workspace.ts'

export const XAPIAN = 'Xapian (omega)'

/** A database of Xapian, which is created anew by each `index`; it holds words and samples, not the texts. */
export interface XapianPeer {
  index(): Promise<Measure>
  /** Of the last database. */
  bytes(): number
  /** The median of whole processes of `omega` that search for common words in the last database. */
  searchMs(): number
}

/** Undefined where Xapian's programs are not installed. */
export function besideXapian(workspace: Workspace, trees: readonly string[]): XapianPeer | undefined {
  if (!isXapianInstalled()) return undefined
  let database = ''
  return {
    index: async () => {
      database = workspace.fresh('xapian')
      let [seconds, cpuSeconds] = [0, 0]
      for (const tree of trees) {
        const measure = await runProcess(indexCommand(tree, database, `/${basename(tree)}`), { quiet: true })
        seconds += measure.seconds
        cpuSeconds += measure.cpuSeconds ?? Number.NaN
      }
      return { seconds, cpuSeconds }
    },
    bytes: () => bytesIn(database),
    searchMs: () => {
      const ask = openXapian(database, workspace.fresh('omega'))
      for (const words of COMMON_WORDS) ask(words)
      return median([...COMMON_WORDS, ...COMMON_WORDS].map((words) => timeOf(() => ask(words))))
    },
  }
}

function timeOf(work: () => unknown): number {
  const beforeMs = performance.now()
  work()
  return performance.now() - beforeMs
}

/** Returns what the files of a directory take together. */
function bytesIn(directory: string): number {
  return globSync('**', { cwd: directory, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0)
}
