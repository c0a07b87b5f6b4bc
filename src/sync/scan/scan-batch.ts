import { isWithin, joinPath } from '../../foundation/files/paths.ts'
import type { ScanRules } from '../../local/ignore/ignore-scope.ts'
import type { Fingerprint } from '../../local/read/file-system.ts'
import type { RootPlace } from '../../local/read/open-and-recheck-root.ts'
import type { OnRead, ReadAmount } from '../../local/read/read-meter.ts'
import type { PathProblem } from '../../rules/problem-groups.ts'
import type { HistoryReason } from '../../store/tables/files.ts'

export interface WalkOptions {
  /** The state directory; null if the store has no files of the mirror. */
  readonly storeDirectory: string | null
  readonly mirrorId: number
  readonly root: RootPlace
  readonly rules: ScanRules
  /** Directories below the root that hold the program's own data; the walk never enters them. */
  readonly ownDirectories: readonly string[]
  /** How many directories of the mirror the store has; absent if they were not counted. */
  readonly storedDirectoryCount?: number
  /** Whether every file is hashed again, even if its fingerprint is unchanged (`--checksum`). */
  readonly hashEverything: boolean
  readonly listIgnored: boolean
  /** Files that changed within this time are not read, because somebody may still be writing them; null: all files are read. */
  readonly settleMs: number | null
  /** Mount points that do not answer, relative to the root; the walk does not touch them. */
  readonly silent?: readonly string[]
}

export interface HashedFile extends Fingerprint {
  readonly name: string
  /** Whether the store has a row of the path, perhaps with another content. */
  readonly isInStore: boolean
  readonly isRacy: boolean
  readonly sha256: Uint8Array
  readonly mime: string
}

/** A file that is new or differs from the store, and is not settled yet. */
export interface UnsettledFile {
  readonly path: string
  readonly isInStore: boolean
  readonly fingerprint: Fingerprint
}

export interface MissingFile {
  readonly name: string
  readonly reason: HistoryReason
}

/** The changes of a directory, or of a part of a large one. */
export interface DirectoryChanges {
  readonly path: string
  readonly files: readonly HashedFile[]
  readonly missing: readonly MissingFile[]
  /** The digest after this change and the removal of missing files; null if a file is not proven unchanged, or more changes follow. */
  readonly digest: Uint8Array | null
}

/** Files of one directory whose names another system may not distinguish: their number, and two of their paths. */
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
  /** Directories that could not be listed. Their rows in the store, and those of all paths below them, stay unchanged (P11). */
  readonly unreadable: string[]
  readonly ignoredDirectories: string[]
  readonly leftOut: LeftOut[]
  readonly alike: AlikePaths[]
  /** Patterns of `include` that match a file. */
  readonly matched: string[]
  readonly unsettled: UnsettledFile[]
  /** Rescanned paths that are gone, or no longer files to send. */
  readonly absent: string[]
  /** Rescanned paths that are directories. The rescan does not enter them. */
  readonly trees: string[]
  readonly counts: ScanCounts
}

export interface Walk extends AsyncIterable<ScanBatch>, AsyncDisposable {}

/** Starts a walk, which yields batches in any order. `onRead` is called with each amount that was read, before its batch comes. */
export type StartWalk = (options: WalkOptions, signal: AbortSignal, onRead?: OnRead) => Walk

/** Names of entries of a directory that is in the store. */
export interface DirectoryEntries {
  readonly directory: string
  readonly names: readonly string[]
}

/** The parts of a tree to rescan; the root stays open meanwhile. */
export type RescanWork = { readonly root: RootPlace } & (
  | { readonly kind: 'entries'; readonly entries: readonly DirectoryEntries[] }
  /** Directories, each with all below it. */
  | { readonly kind: 'trees'; readonly paths: readonly string[] }
)

export interface Rescanner extends AsyncDisposable {
  rescan(work: RescanWork, signal: AbortSignal): AsyncIterable<ScanBatch>
}

/** Without the root, which each RescanWork has. */
export type RescanOptions = Omit<WalkOptions, 'root'>

export type OpenRescanner = (options: RescanOptions) => Rescanner

/** Returns how much was read for a batch, where no meter counts it. */
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

/** A batch is full when it reaches one of these numbers, so that results do not wait long and memory stays bounded. */
const BATCH_DIRECTORIES = 256
const BATCH_FILES = 512
const BATCH_BYTES = 64 * 2 ** 20

/** Holds the batch that a walk is filling. */
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

/** Indices in the memory that all threads share: how many batches may still be posted, and how many threads are idle. */
export const CREDITS = 0
export const IDLE_WORKERS = 1

/** How many batches may be posted and not yet read. At this number, walking threads wait. */
export const MAX_BATCHES_UNDER_WAY = 6

export type ToWorker =
  | { readonly kind: 'open'; readonly options: RescanOptions; readonly shared: Int32Array }
  | { readonly kind: 'walk'; readonly root: RootPlace; readonly paths: readonly string[] }
  | { readonly kind: 'rescan'; readonly root: RootPlace; readonly entries: readonly DirectoryEntries[] }

export type FromWorker =
  | { readonly kind: 'batch'; readonly batch: ScanBatch }
  | { readonly kind: 'read'; readonly amount: ReadAmount }
  /** Directories from the stack of the sender, for an idle thread. */
  | { readonly kind: 'stolen'; readonly paths: readonly string[] }
  | { readonly kind: 'idle' }

/** How the disk differs from the store; unchanged files are left out. */
export interface Differences {
  /** New or changed files by directory, then by name. */
  readonly files: ReadonlyMap<string, ReadonlyMap<string, HashedFile>>
  /** Paths of files in the store that no longer exist. */
  readonly missing: ReadonlySet<string>
  /** Directories in the store that no longer exist. */
  readonly missingDirectories: ReadonlySet<string>
  /** Directories in the store that could not be listed, and all below them: what they contain now is unknown. */
  readonly unreadableDirectories: ReadonlySet<string>
  readonly problems: ReadonlyMap<string, PathProblem>
  readonly leftOut: readonly LeftOut[]
}

export async function collectDifferences(
  batches: AsyncIterable<ScanBatch>,
  storedDirectories: readonly string[],
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
  const unreadableDirectories = new Set(unreadable.length === 0 ? [] : storedDirectories.filter(isUnreadable))
  const missingDirectories = new Set(
    storedDirectories.filter((path) => !seen.has(path) && !unreadableDirectories.has(path)),
  )
  return { files, missing, missingDirectories, unreadableDirectories, problems, leftOut }
}
