import type { Fingerprint } from '../../local/read/fingerprint.ts'
import type { FormerReason } from '../../store/files.ts'

/** What a walk needs to know; plain data, so that it can be handed to a thread. */
export interface WalkOptions {
  /** The state directory; null when nothing is known yet. */
  readonly storeDirectory: string | null
  readonly mirrorId: number
  readonly rootRealPath: string
  readonly rootDevice: bigint
  readonly ignore: readonly string[]
  readonly maxSizeBytes: number | null
  readonly oneFileSystem: boolean
  readonly emptyFiles: 'upload' | 'skip'
  /** Directories below the root (relative) that hold the program's own data: never entered, whatever the rules say. */
  readonly ownDirectories: readonly string[]
  /** Hash every file again, whatever its fingerprint says (`--checksum`). */
  readonly hashEverything: boolean
  /** Also list what was ignored or skipped, and why. */
  readonly listIgnored: boolean
  /** Files that changed within so long are not read: they may still be written to. Null: all are read. */
  readonly settleMs: number | null
}

/** A file whose bytes were read because nothing proved it unchanged. */
export interface ObservedFile {
  readonly name: string
  readonly isKnown: boolean
  readonly sizeBytes: number
  readonly mtimeNs: bigint
  readonly ctimeNs: bigint
  readonly inode: bigint
  readonly isRacy: boolean
  readonly sha256: Uint8Array
  readonly mime: string
}

/** A file that differs from what is known, and has not rested yet. */
export interface UnsettledFile {
  readonly path: string
  readonly isKnown: boolean
  readonly fingerprint: Fingerprint
}

export interface MissingFile {
  readonly name: string
  readonly reason: FormerReason
}

/** What differs in one directory from what the store knows; of a large one, a part of it. */
export interface DirectoryObservation {
  readonly path: string
  readonly files: readonly ObservedFile[]
  readonly missing: readonly MissingFile[]
  /** The directory's digest once this is recorded and what is missing is removed; null when something isn't proven, or follows. */
  readonly digest: Uint8Array | null
}

export interface PathProblem {
  readonly path: string
  readonly code: string
  readonly message: string
}

/** Files of one directory whose names are taken for one, `count` of them; two by their paths. */
export interface AlikePaths {
  readonly count: number
  readonly path: string
  readonly other: string
}

/** A path that is left out, and by what. */
export interface LeftOut {
  readonly path: string
  readonly reason: string
}

export interface ObservationCounts {
  unchanged: number
  hashed: number
  bytesHashed: number
  ignored: number
  unsupported: number
  /** Ignored because they look like secrets. */
  secrets: number
}

/** A stretch of the walk. */
export interface ObservationBatch {
  /** Directories that were read completely, parents before their children. */
  readonly directories: string[]
  readonly observations: DirectoryObservation[]
  readonly problems: PathProblem[]
  /** Directories of which nothing is known now: they and all below stay as the store has them (P11). */
  readonly unreadable: string[]
  readonly ignoredDirectories: string[]
  readonly leftOut: LeftOut[]
  readonly alike: AlikePaths[]
  readonly unsettled: UnsettledFile[]
  /** Only of examined entries: paths that are gone or left out, and those that are directories, which are not entered. */
  readonly absent: string[]
  readonly trees: string[]
  readonly counts: ObservationCounts
}

/** A walk that is under way; disposing ends it, finished or not. */
export interface Walk extends AsyncIterable<ObservationBatch>, AsyncDisposable {}

/** Begins to walk a mirror's tree; batches come in any order, each parent directory before its children. */
export type ObserveTree = (options: WalkOptions, signal: AbortSignal) => Walk

/** Entries of a directory that is known. */
export interface DirectoryEntries {
  readonly directory: string
  readonly names: readonly string[]
}

/** What to look at instead of the whole tree. */
export type ExamineWork =
  | { readonly kind: 'entries'; readonly entries: readonly DirectoryEntries[] }
  /** Directories, with all below them. */
  | { readonly kind: 'trees'; readonly paths: readonly string[] }

/** Looks at parts of a mirror's tree, again and again; one work at a time. */
export interface Examiner extends AsyncDisposable {
  examine(work: ExamineWork, signal: AbortSignal): AsyncIterable<ObservationBatch>
}

export type OpenExaminer = (options: WalkOptions) => Examiner

export function emptyBatch(): ObservationBatch {
  const counts = { unchanged: 0, hashed: 0, bytesHashed: 0, ignored: 0, unsupported: 0, secrets: 0 }
  return {
    directories: [],
    observations: [],
    problems: [],
    unreadable: [],
    ignoredDirectories: [],
    leftOut: [],
    alike: [],
    unsettled: [],
    absent: [],
    trees: [],
    counts,
  }
}
