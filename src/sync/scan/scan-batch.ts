import { isWithin, joinPath } from '../../foundation/files/paths.ts'
import type { ScanRules } from '../../local/ignore/ignore-scope.ts'
import type { Fingerprint } from '../../local/read/file-system.ts'
import type { RootPlace } from '../../local/read/open-root.ts'
import type { OnRead, ReadAmount } from '../../local/read/read-meter.ts'
import type { HistoryReason } from '../../store/tables/files.ts'

/** The options of a walk; plain data, so that they can be passed to a thread. */
export interface WalkOptions {
  /** The state directory; null when the store knows nothing of the mirror yet. */
  readonly storeDirectory: string | null
  readonly mirrorId: number
  readonly root: RootPlace
  readonly rules: ScanRules
  /** Directories below the root (relative) that hold the program's own data; the walk never enters them, even if an ignore rule includes them. */
  readonly ownDirectories: readonly string[]
  /** True if the store knows more directories than a small tree has. */
  readonly isLarge?: boolean
  /** Hash every file again, even if its fingerprint is unchanged (`--checksum`). */
  readonly hashEverything: boolean
  /** Also list ignored and unsupported paths, with the reasons. */
  readonly listIgnored: boolean
  /** Files that changed more recently are not read, since they may still be written to. Null: all files are read. */
  readonly settleMs: number | null
  /** Mounts in the root that do not answer, relative to it: no call is made on them. */
  readonly silent?: readonly string[]
}

/** A file that was hashed, because its fingerprint did not prove it unchanged. */
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

/** The differences between one directory and the store; a large directory has several changes. */
export interface DirectoryChanges {
  readonly path: string
  readonly files: readonly HashedFile[]
  readonly missing: readonly MissingFile[]
  /**
   * The directory's digest once this change is recorded and the missing files are removed; null when a file is not proven
   * unchanged, or when another change of the directory follows.
   */
  readonly digest: Uint8Array | null
}

export interface PathProblem {
  readonly path: string
  readonly code: string
  readonly message: string
}

/** `count` files of one directory that another system may take for one, with the paths of two of them. */
export interface AlikePaths {
  readonly count: number
  readonly path: string
  readonly other: string
}

/** A path that is left out by a rule, or is no file (`unsupported`), and the reason. */
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
  /** Pipes, sockets and devices. */
  unsupported: number
  /** Ignored paths that look like secrets. */
  secrets: number
}

/** The results of a part of the walk. */
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
  /** Rescanned paths that are gone or left out. */
  readonly absent: string[]
  /** Rescanned paths that are directories, which are not entered. */
  readonly trees: string[]
  readonly counts: ScanCounts
}

/** A running walk; disposing stops it. */
export interface Walk extends AsyncIterable<ScanBatch>, AsyncDisposable {}

/** Starts to walk a mirror's tree. Batches come in any order; `onRead` is called for what is read for them before they come. */
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

/** Rescans parts of a mirror's tree, any number of times, one call at a time. */
export interface Rescanner extends AsyncDisposable {
  rescan(work: RescanWork, signal: AbortSignal): AsyncIterable<ScanBatch>
}

/** Options of which the root is not known yet: it is opened for each piece of work. */
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

  /** Returns the batch and starts a new one. */
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
  /** Directories taken off this thread's stack, for an idle thread to walk. */
  | { readonly kind: 'stolen'; readonly paths: readonly string[] }
  | { readonly kind: 'idle' }

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
