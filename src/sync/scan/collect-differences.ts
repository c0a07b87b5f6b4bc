import { isWithin, joinPath } from '../../foundation/files/paths.ts'
import type { HashedFile, LeftOut, PathProblem, ScanBatch } from './scan-batch.ts'

/** The differences between a tree and the store, in memory. Unchanged files are not kept. */
export interface Differences {
  /** Files that are new or were hashed again, by directory, then by name. */
  readonly files: ReadonlyMap<string, ReadonlyMap<string, HashedFile>>
  /** Paths of known files that no longer exist. */
  readonly missing: ReadonlySet<string>
  /** Known directories that no longer exist. */
  readonly missingDirectories: ReadonlySet<string>
  /** Known directories that could not be listed, or that lie below one: their entries are unknown. */
  readonly unreadableDirectories: ReadonlySet<string>
  readonly problems: ReadonlyMap<string, PathProblem>
  readonly leftOut: readonly LeftOut[]
}

/** Reads all batches of a walk and keeps the differences. `known` are the directories in the store. */
export async function collectDifferences(
  batches: AsyncIterable<ScanBatch>,
  known: readonly string[],
): Promise<Differences> {
  const files = new Map<string, Map<string, HashedFile>>()
  const missing = new Set<string>()
  const seen = new Set<string>()
  const unreadable: string[] = []
  const problems = new Map<string, PathProblem>()
  const leftOut: LeftOut[] = []
  for await (const batch of batches) {
    for (const path of batch.directories) seen.add(path)
    unreadable.push(...batch.unreadable)
    for (const problem of batch.problems) problems.set(problem.path, problem)
    leftOut.push(...batch.leftOut)
    for (const change of batch.changes) {
      const ofDirectory = files.get(change.path) ?? new Map<string, HashedFile>()
      for (const file of change.files) ofDirectory.set(file.name, file)
      files.set(change.path, ofDirectory)
      for (const { name } of change.missing) missing.add(joinPath(change.path, name))
    }
  }
  const isUnreadable = (path: string) => unreadable.some((top) => isWithin(top, path))
  const unreadableDirectories = new Set(unreadable.length === 0 ? [] : known.filter(isUnreadable))
  const missingDirectories = new Set(known.filter((path) => !seen.has(path) && !unreadableDirectories.has(path)))
  return { files, missing, missingDirectories, unreadableDirectories, problems, leftOut }
}
