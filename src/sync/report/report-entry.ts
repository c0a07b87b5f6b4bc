import type { ReportClass } from '../../rules/report-class.ts'

/** One entry of `report --format json`. */
export interface ReportEntry {
  readonly path: string | null
  readonly class: ReportClass
  readonly reason: string | null
  readonly size: number | null
  readonly sha256: string | null
  readonly mime: string | null
  readonly resourceId: string | null
  readonly remotePaths: readonly string[]
  readonly remoteFilename: string | null
  readonly ingestionStatus: string | null
  readonly duplicateOf: string | null
  readonly uploadedAt: string | null
  readonly searchableAt: string | null
}

export interface ReportRow {
  readonly entry: ReportEntry
  /** A remote entry outside the mirror's path and the inbox, which is only counted unless the user asks for all. */
  readonly isElsewhere: boolean
  /** Needs attention but was set aside (`failed ignore`): no check and no run fails for it. */
  readonly isSetAside: boolean
  /** A pipe, a socket or a device: no check and no run fails for it. */
  readonly isUnsupported: boolean
  /** The kind of a file that is stored without searchable text; otherwise null. */
  readonly kindWithoutText: string | null
}

/** Files that are in sync without any remark, where only their number is of interest. */
export interface PlainFiles {
  readonly plainFiles: number
}
