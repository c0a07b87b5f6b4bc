import { joinLibraryPath } from '../../contract/library-path.ts'
import type { ShownState } from '../../contract/report-classes.ts'
import { isoTime } from '../../foundation/text/times.ts'
import type { Classified, ReportClass } from '../../rules/report-class.ts'
import type { Listed, ReportedFile } from '../../store/tables/report-queries.ts'

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
  /** Whether the entry lies outside the mirror's library path and the inbox. It is then only counted, unless the user asks for all. */
  readonly isElsewhere: boolean
  /** What people are shown as the class. For entries that are set aside or are no files it differs, as they fail no check and no run. */
  readonly state: ShownState
  /** The kind of a file that is stored without searchable text; otherwise null. */
  readonly kindWithoutText: string | null
}

export function rowOf(entry: ReportEntry, classified?: Classified): ReportRow {
  const { state = entry.class, kindWithoutText = null } = classified ?? {}
  return { entry, isElsewhere: false, state, kindWithoutText }
}

/** Stands for the rows of this many files that are in sync without a remark. */
export interface PlainFiles {
  readonly plainFiles: number
}

/** The fields of a content that entries show. */
export type ReportedContent = Omit<ReportedFile, 'contentId' | 'directory' | 'name'>

export type Location = Pick<Listed, 'directory' | 'filename'>

export function withHex<Content extends { readonly sha256: Uint8Array }>(content: Content) {
  return { ...content, sha256Hex: hexOf(content.sha256) }
}

export function hexOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('hex')
}

export function blankEntry(path: string | null, classified: Pick<Classified, 'class' | 'reason'>): ReportEntry {
  return {
    path,
    class: classified.class,
    reason: classified.reason,
    size: null,
    sha256: null,
    mime: null,
    resourceId: null,
    remotePaths: [],
    remoteFilename: null,
    ingestionStatus: null,
    duplicateOf: null,
    uploadedAt: null,
    searchableAt: null,
  }
}

export function contentEntry(
  path: string,
  classified: Classified,
  content: ReportedContent,
  locations: readonly Location[],
  duplicateOf: string | null = null,
): ReportEntry {
  return {
    path,
    class: classified.class,
    reason: classified.reason,
    size: content.size,
    sha256: content.sha256Hex,
    mime: content.mime,
    resourceId: content.resourceId,
    remotePaths: pathsOf(locations),
    remoteFilename: locations[0]?.filename ?? null,
    ingestionStatus: content.ingestionStatus,
    duplicateOf,
    uploadedAt: isoTime(content.uploadedAt),
    searchableAt: isoTime(content.searchableAt),
  }
}

/** Returns the entry of a resource that belongs to no content in the store. */
export function foreignEntry(locations: readonly Listed[]): ReportEntry {
  const [first] = locations
  const classified: Classified = { class: 'remote-only', reason: 'no local file belongs to it' }
  return {
    ...blankEntry(null, classified),
    mime: first?.mime ?? null,
    resourceId: first?.resourceId ?? null,
    remotePaths: pathsOf(locations),
    remoteFilename: first?.filename ?? null,
  }
}

function pathsOf(locations: readonly Location[]): string[] {
  return locations.map(({ directory, filename }) => joinLibraryPath(directory, filename))
}
