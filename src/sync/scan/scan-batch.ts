import { isWithin, joinPath } from '../../foundation/files/paths.ts'
import type { ScanRules } from '../../local/ignore/ignore-scope.ts'
import type { Fingerprint } from '../../local/read/file-system.ts'
import type { RootPlace } from '../../local/read/open-and-recheck-root.ts'
import type { OnRead, ReadAmount } from '../../local/read/read-meter.ts'
import type { PathProblem } from '../../rules/problem-groups.ts'
import type { HistoryReason } from '../../store/tables/files.ts'

export interface WalkOptions {
  /** The state directory; null when the store knows nothing of the mirror yet. */
  readonly storeDirectory: string | null
  readonly mirrorId: number
  readonly root: RootPlace
  readonly rules: ScanRules
  /** Directories below the root that hold the program's own data; the walk never enters them. */
  readonly ownDirectories: readonly string[]
  /** True if the store knows more directories than a small tree has. */
  readonly isLarge?: boolean
  /** Hash every file again, even if its fingerprint is unchanged (`--checksum`). */
  readonly hashEverything: boolean
  readonly listIgnored: boolean
  /** Younger files are not read, since they may still be written. Null: all files are read. */
  readonly settleMs: number | null
  /** Mounts that do not answer, relative to the root: no call is made on them. */
  readonly silent?: readonly string[]
}

export interface HashedFile extends Fingerprint {
  readonly name: string
  readonly isKnown: boolean
  readonly isRacy: boolean
  readonly sha256: Uint8Array
  readonly mime: string
}

/** A file that is new or differs from the store, and is not settled yet. */
export interface UnsettledFile {
  readonly path: string
  readonly isKnown: boolean
  readonly fingerprint: Fingerprint
}

export interface MissingFile {
  readonly name: string
  readonly reason: HistoryReason
}

/** A large directory has several changes. */
export interface DirectoryChanges {
  readonly path: string
  readonly files: readonly HashedFile[]
  readonly missing: readonly MissingFile[]
  /**
   * The digest once this change is recorded and missing files are removed; null if a file is not proven unchanged, or more changes
   * follow.
   */
  readonly digest: Uint8Array | null
}

/** `count` files of one directory that another system may take for one, with the paths of two of them. */
export interface AlikePaths {
  readonly count: number
  readonly path: string
  readonly other: string
}

interface LeftOut {
  readonly path: string
  readonly kind: 'ignored' | 'unsupported'
  readonly reason: string
}

interface ScanCounts {
  unchanged: number
  hashed: number
  bytesHashed: number
  ignored: number
  unsupported: number
  secrets: number
}

export interface ScanBatch {
  /** Directories that were listed completely, parents before their children. */
  readonly directories: string[]
  readonly changes: DirectoryChanges[]
  readonly problems: PathProblem[]
  /** Directories that could not be listed: they and all below stay in the store as they are (P11). */
  readonly unreadable: string[]
  readonly ignoredDirectories: string[]
  readonly leftOut: LeftOut[]
  readonly alike: AlikePaths[]
  /** Patterns of `include` that match a file. */
  readonly matched: string[]
  readonly unsettled: UnsettledFile[]
  readonly absent: string[]
  /** Rescanned paths that are directories, which are not entered. */
  readonly trees: string[]
  readonly counts: ScanCounts
}

export interface Walk extends AsyncIterable<ScanBatch>, AsyncDisposable {}

/** Batches come in any order; `onRead` is called for what is read for them before they come. */
export type StartWalk = (options: WalkOptions, signal: AbortSignal, onRead?: OnRead) => Walk

/** Entries of a directory that the store knows. */
export interface DirectoryEntries {
  readonly directory: string
  readonly names: readonly string[]
}

/** The parts of a tree to rescan, whose root is open meanwhile. */
export type RescanWork = { readonly root: RootPlace } & (
  | { readonly kind: 'entries'; readonly entries: readonly DirectoryEntries[] }
  /** Directories, each with all below it. */
  | { readonly kind: 'trees'; readonly paths: readonly string[] }
)

export interface Rescanner extends AsyncDisposable {
  rescan(work: RescanWork, signal: AbortSignal): AsyncIterable<ScanBatch>
}

/** The root is opened for each piece of work. */
export type RescanOptions = Omit<WalkOptions, 'root'>

export type OpenRescanner = (options: RescanOptions) => Rescanner

/** Returns what was read for a batch that no meter has counted. */
export function amountOf({ counts }: ScanBatch): ReadAmount {
  return { files: counts.unchanged + counts.hashed, bytes: counts.bytesHashed }
}

export function emptyBatch(): ScanBatch {
  const counts = { unchanged: 0, hashed: 0, bytesHashed: 0, ignored: 0, unsupported: 0, secrets: 0 }
  return {
    directories: [],
    changes: [],
    problems: [],
    unreadable: [],
    ignoredDirectories: [],
    leftOut: [],
    alike: [],
    matched: [],
    unsettled: [],
    absent: [],
    trees: [],
    counts,
  }
}

/** A batch is full at one of these numbers, so that results do not wait long and memory stays bounded. */
const BATCH_DIRECTORIES = 256
const BATCH_FILES = 512
const BATCH_BYTES = 64 * 2 ** 20

/** Holds the batch that a walk fills. */
export class BatchCollector {
  #batch = emptyBatch()

  get batch(): ScanBatch {
    return this.#batch
  }

  get isFull(): boolean {
    const { directories, counts } = this.#batch
    return directories.length >= BATCH_DIRECTORIES || counts.hashed >= BATCH_FILES || counts.bytesHashed >= BATCH_BYTES
  }

  take(): ScanBatch {
    const taken = this.#batch
    this.#batch = emptyBatch()
    return taken
  }
}

/** Cells of the memory that the walking threads share with the main thread. */
export const CREDITS = 0
export const IDLE_WORKERS = 1

/** Batches that may be posted and not yet read before a walking thread waits. */
export const MAX_BATCHES_UNDER_WAY = 6

export type ToWorker =
  | { readonly kind: 'open'; readonly options: RescanOptions; readonly shared: Int32Array }
  | { readonly kind: 'walk'; readonly root: RootPlace; readonly paths: readonly string[] }
  | { readonly kind: 'rescan'; readonly root: RootPlace; readonly entries: readonly DirectoryEntries[] }

export type FromWorker =
  | { readonly kind: 'batch'; readonly batch: ScanBatch }
  | { readonly kind: 'read'; readonly amount: ReadAmount }
  /** Directories of this thread's stack for an idle thread. */
  | { readonly kind: 'stolen'; readonly paths: readonly string[] }
  | { readonly kind: 'idle' }

/** Unchanged files are not kept. */
export interface Differences {
  /** New or changed files by directory, then by name. */
  readonly files: ReadonlyMap<string, ReadonlyMap<string, HashedFile>>
  /** Paths of known files that no longer exist. */
  readonly missing: ReadonlySet<string>
  /** Known directories that no longer exist. */
  readonly missingDirectories: ReadonlySet<string>
  /** Known directories that could not be listed, or lie below one: their entries are unknown. */
  readonly unreadableDirectories: ReadonlySet<string>
  readonly problems: ReadonlyMap<string, PathProblem>
  readonly leftOut: readonly LeftOut[]
}

/** `known` are the directories in the store. */
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
