import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, realpathSync } from 'node:fs'
import { join } from 'node:path'
import { PROJECT } from '../../support/compiled-program.ts'
import type { BenchOptions } from './bench.ts'
import { runProcess } from './run-process.ts'
import type { Workspace } from './workspace.ts'

/** What Debian's package `linux-source-6.1` installs: 78,579 files, 1.5 GB. */
const LINUX_SOURCE = '/usr/src/linux-source-6.1.tar.xz'

/** The tree to work on: the one that was asked for, the Linux source if it is installed, or the project's own packages. */
export async function findTree({ tree, quick }: BenchOptions, workspace: Workspace): Promise<string> {
  if (tree !== undefined) return realpathSync(tree)
  if (quick || !existsSync(LINUX_SOURCE)) return realpathSync(join(PROJECT, 'node_modules'))
  const target = workspace.fresh('tree')
  mkdirSync(target)
  await runProcess(['tar', '-xf', LINUX_SOURCE, '-C', target])
  return join(target, 'linux-source-6.1')
}

interface CountedFile {
  readonly path: string
  readonly directory: string
}

/** All plain files below a directory. */
function listFiles(directory: string): CountedFile[] {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => ({ path: join(entry.parentPath, entry.name), directory: entry.parentPath }))
}

/** The directory of the tree whose number of files, all below counted, is nearest to `wanted`. */
export function chooseSubtree(tree: string, wanted: number): string {
  const counts = new Map<string, number>()
  for (const { directory } of listFiles(tree)) countUpwards(counts, tree, directory)
  const byDistance = [...counts].toSorted(([, a], [, b]) => Math.abs(a - wanted) - Math.abs(b - wanted))
  return byDistance[0]?.[0] ?? tree
}

function countUpwards(counts: Map<string, number>, tree: string, directory: string): void {
  for (let at = directory; at.length >= tree.length; at = join(at, '..')) counts.set(at, (counts.get(at) ?? 0) + 1)
}

/** One path for each different content: what an upload of the directory has to send. */
export function listContents(directory: string): string[] {
  const byContent = new Map<string, string>()
  for (const { path } of listFiles(directory)) {
    const digest = createHash('sha256').update(readFileSync(path)).digest('hex')
    if (!byContent.has(digest)) byContent.set(digest, path)
  }
  return [...byContent.values()]
}
