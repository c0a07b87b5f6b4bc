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
  /** Outside the mirror's path and the inbox: only counted unless the user asks for all. */
  readonly isElsewhere: boolean
  /** No check and no run fails for what was set aside by `failed ignore` or is no file. */
  readonly state: ShownState
  /** The kind of a file that is stored without searchable text; otherwise null. */
  readonly kindWithoutText: string | null
}

export function rowOf(entry: ReportEntry, known?: Classified): ReportRow {
  const { state = entry.class, kindWithoutText = null } = known ?? {}
  return { entry, isElsewhere: false, state, kindWithoutText }
}

export interface PlainFiles {
  readonly plainFiles: number
}

/** What entries show of a content. */
export type ReportedContent = Omit<ReportedFile, 'contentId' | 'directory' | 'name'>

export type Location = Pick<Listed, 'directory' | 'filename'>

export function withHex<Content extends { readonly sha256: Uint8Array }>(content: Content) {
  return { ...content, sha256Hex: hexOf(content.sha256) }
}

export function hexOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('hex')
}

export function blankEntry(path: string | null, known: Pick<Classified, 'class' | 'reason'>): ReportEntry {
  return {
    path,
    class: known.class,
    reason: known.reason,
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
  known: Classified,
  content: ReportedContent,
  locations: readonly Location[],
  duplicateOf: string | null = null,
): ReportEntry {
  return {
    path,
    class: known.class,
    reason: known.reason,
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

/** The entry of a resource that no content of the store accounts for. */
export function foreignEntry(locations: readonly Listed[]): ReportEntry {
  const [first] = locations
  const known: Classified = { class: 'remote-only', reason: 'no local file belongs to it' }
  return {
    ...blankEntry(null, known),
    mime: first?.mime ?? null,
    resourceId: first?.resourceId ?? null,
    remotePaths: pathsOf(locations),
    remoteFilename: first?.filename ?? null,
  }
}

function pathsOf(locations: readonly Location[]): string[] {
  return locations.map(({ directory, filename }) => joinLibraryPath(directory, filename))
}
