import type { SkipReason } from '../../rules/skipped-entry.ts'
import type { IgnoreDecision, IgnoreScope } from '../ignore/ignore-scope.ts'
import type { ScannedFiles } from './scanned-files.ts'

export interface ScanOptions {
  readonly symlinks: 'skip'
  readonly oneFileSystem: boolean
  /** The device of the root (inspectRoot). */
  readonly rootDevice: bigint
  readonly maxSizeBytes: number | null
  readonly emptyFiles: 'upload' | 'skip'
}

export interface IgnoredEntry {
  readonly name: string
  readonly decision: IgnoreDecision
  readonly isDirectory: boolean
}

export interface SkippedEntry {
  /** Escaped like `caf\xE9.txt` when it is not UTF-8. */
  readonly name: string
  readonly reason: SkipReason
  readonly detail?: string
}

/** What went wrong: the system's code (`EACCES`), or a FileError's where shelfd itself refused, and a text for people. */
export interface Fault {
  readonly code: string
  readonly message: string
}

export interface EntryProblem extends Fault {
  readonly name: string
}

/** What was found in one directory, in code-unit order of names. */
export interface Findings {
  readonly files: ScannedFiles
  readonly directories: readonly string[]
  readonly ignored: readonly IgnoredEntry[]
  readonly skipped: readonly SkippedEntry[]
  readonly problems: readonly EntryProblem[]
}

export interface ScannedDirectory extends Findings {
  readonly kind: 'scanned'
  /** The rules in force here, from which those of the directories below are made. */
  readonly scope: IgnoreScope
  /** Something could not be seen for certain: what is not listed may still be there. */
  readonly incomplete: boolean
}

/** Nothing is known of what lies here or below; never to be taken for an empty directory. */
export interface UnreadableDirectory extends Fault {
  readonly kind: 'unreadable'
}

export type DirectoryScan = ScannedDirectory | UnreadableDirectory
