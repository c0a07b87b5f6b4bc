import { joinLibraryPath } from '../../../contract/library-path.ts'
import type { StoreReader } from '../../../store/open-store.ts'
import type { MirrorRow } from '../../../store/tables/mirrors.ts'
import type { ProblemRow } from '../../../store/tables/problems.ts'
import { countFiles, type FileCounts } from '../file-counts.ts'

/** What the store knows about a directory and everything below it. */
export interface DirectoryExplanation {
  /** The library path of the directory, whether it exists there yet or not. */
  readonly remotePath: string
  /** When it was created in the library (wall clock); null while it is pending. */
  readonly createdAt: number | null
  /** Known directories below it. */
  readonly directories: number
  /** Known files below it. */
  readonly files: FileCounts
  /** Problems of paths below it. */
  readonly problems: readonly ProblemRow[]
}

/** Explains a directory, relative to the mirror's root; undefined when the store does not know it. */
export function explainDirectory(
  store: StoreReader,
  mirror: MirrorRow,
  path: string,
): DirectoryExplanation | undefined {
  const directory = store.directories.get(mirror.id, path)
  if (!directory) return undefined
  const prefix = path === '' ? '' : `${path}/`
  return {
    remotePath: joinLibraryPath(mirror.remotePath, path),
    createdAt: directory.createdAt,
    directories: store.directories.countBelow(mirror.id, path),
    files: countFiles(store.report.tallyStatesBelow(mirror.id, path), store.isHeld()),
    problems: store.problems.list(mirror.id).filter((problem) => problem.path.startsWith(prefix)),
  }
}
