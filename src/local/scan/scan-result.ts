import type { SkipReason } from '../../rules/path-problems.ts'
import type { IgnoreDecision, IgnoreScope } from '../ignore/ignore-scope.ts'
import type { ScannedFiles } from './scanned-files.ts'

export interface ScanOptions {
  readonly symlinks: 'skip'
  readonly oneFileSystem: boolean
  readonly maxSizeBytes: number | null
  readonly emptyFiles: 'upload' | 'skip'
  /** Called for each file that is found. */
  readonly onFile?: (() => void) | undefined
}

export interface IgnoredEntry {
  readonly name: string
  readonly decision: IgnoreDecision
  readonly isDirectory: boolean
}

export interface SkippedEntry {
  /** A name that is not UTF-8 is escaped, as in `caf\xE9.txt`. */
  readonly name: string
  readonly reason: SkipReason
  readonly detail?: string
}

/** A failure: the system's code (`EACCES`), or the code of a FileError where shelfd itself refused, and a message for people. */
export interface Fault {
  readonly code: string
  readonly message: string
}

export interface EntryProblem extends Fault {
  readonly name: string
}

/** The entries of one directory, sorted by the code units of their names. */
export interface Findings {
  readonly files: ScannedFiles
  readonly directories: readonly string[]
  readonly ignored: readonly IgnoredEntry[]
  readonly skipped: readonly SkippedEntry[]
  readonly problems: readonly EntryProblem[]
}

export interface ScannedDirectory extends Findings {
  readonly kind: 'scanned'
  /** The ignore rules in force in this directory; those of the directories below are derived from them. */
  readonly scope: IgnoreScope
  /** Entries that were listed, gone when they were examined, and may be there again: some may be directories. */
  readonly uncertain: readonly string[]
  /** An entry could not be examined, or the directory changed meanwhile: a file that is not listed may still exist. */
  readonly incomplete: boolean
}

/** Nothing is known of this directory and of all below it; callers must not treat it as empty. */
export interface UnreadableDirectory extends Fault {
  readonly kind: 'unreadable'
}

export type DirectoryScan = ScannedDirectory | UnreadableDirectory
