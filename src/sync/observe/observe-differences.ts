import { isWithin, joinPath } from '../../foundation/files/paths.ts'
import type { LeftOut, ObservationBatch, ObservedFile, PathProblem } from './observation.ts'

/** The differences between a tree and the store, in memory. Unchanged files are not kept. */
export interface Differences {
  /** By directory, then by name: files that are new or were hashed again. */
  readonly files: ReadonlyMap<string, ReadonlyMap<string, ObservedFile>>
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
export async function observeDifferences(
  batches: AsyncIterable<ObservationBatch>,
  known: readonly string[],
): Promise<Differences> {
  const files = new Map<string, Map<string, ObservedFile>>()
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
    for (const observation of batch.observations) {
      const ofDirectory = files.get(observation.path) ?? new Map<string, ObservedFile>()
      for (const file of observation.files) ofDirectory.set(file.name, file)
      files.set(observation.path, ofDirectory)
      for (const { name } of observation.missing) missing.add(joinPath(observation.path, name))
    }
  }
  const isUnreadable = (path: string) => unreadable.some((top) => isWithin(top, path))
  const unreadableDirectories = new Set(unreadable.length === 0 ? [] : known.filter(isUnreadable))
  const missingDirectories = new Set(known.filter((path) => !seen.has(path) && !unreadableDirectories.has(path)))
  return { files, missing, missingDirectories, unreadableDirectories, problems, leftOut }
}
