import { joinLibraryPath } from '../../contract/library-path.ts'
import { isWithin, joinPath } from '../../foundation/files/paths.ts'
import { IdSet } from '../../foundation/id-set.ts'
import {
  type Classified,
  classifyDifferent,
  classifyFile,
  classifyHidden,
  classifySuperseded,
  type Presence,
} from '../../rules/report-class.ts'
import type { StoreReader } from '../../store/open-store.ts'
import type { ContentRow } from '../../store/tables/contents.ts'
import type { MirrorRow } from '../../store/tables/mirrors.ts'
import type { FileRow, ListedEntry } from '../../store/tables/report-rows.ts'
import type { Listing } from '../list-remote.ts'
import type { ObservedFile } from '../observe/observation.ts'
import type { Differences } from '../observe/observe-differences.ts'
import { describeHeldBack } from './held-back.ts'
import { blankEntry, type ReportEntry, type ReportRow } from './report-entry.ts'

interface Sides {
  readonly row: MirrorRow
  /** Undefined: the service was not asked for its entries. */
  readonly listing: Listing | undefined
  /** Undefined: the disk was not scanned. */
  readonly differences: Differences | undefined
  /** Library paths whose entries belong to this report. */
  readonly places: readonly string[]
  /** The report of the first mirror of a library includes the entries elsewhere in it. */
  readonly isFirstOfLibrary: boolean
}

/** Yields every row of a mirror's report; each file and each remote entry is in exactly one class (P19). */
export function* listRows(store: StoreReader, sides: Sides): Generator<ReportRow> {
  const rows = new MirrorRows(store, sides)
  yield* rows.listKnownFiles()
  yield* rows.listNewFiles()
  yield* rows.listProblems()
  yield* rows.listLeftOut()
  yield* rows.listSuperseded()
  yield* rows.listUntracked()
}

class MirrorRows {
  readonly #store: StoreReader
  readonly #sides: Sides
  /** A process holds the store: what the store calls `sending` is in flight; otherwise it was cut off. */
  readonly #isHeld: boolean
  /** Why limits held back new contents in the last run; null: none did. */
  readonly #heldBack: string | null
  readonly #originals: ReadonlyMap<number, string>
  /** Paths of problems that have no row yet. */
  readonly #problemPaths: Set<string>
  /** Contents that have a row already. */
  readonly #claimed = new IdSet()
  /** Files that are in the store but no longer on the disk. */
  readonly #vacated: { readonly file: FileRow; readonly path: string }[] = []

  constructor(store: StoreReader, sides: Sides) {
    this.#store = store
    this.#sides = sides
    this.#isHeld = store.isHeld()
    this.#heldBack = describeHeldBack(store, sides.row)
    this.#originals = findOriginals(store, sides.row.id)
    this.#problemPaths = new Set(
      sides.differences?.problems.keys() ?? store.problems.list(sides.row.id).map(({ path }) => path),
    )
  }

  *listKnownFiles(): Generator<ReportRow> {
    const { differences, row } = this.#sides
    for (const file of this.#store.report.iterateFiles(row.id)) {
      const path = joinPath(file.directory, file.name)
      if (differences?.missing.has(path) || differences?.missingDirectories.has(file.directory)) {
        this.#vacated.push({ file, path })
        continue
      }
      const observed = differences?.files.get(file.directory)?.get(file.name)
      yield this.#knownFile(file, path, observed)
    }
  }

  *listNewFiles(): Generator<ReportRow> {
    for (const [directory, files] of this.#sides.differences?.files ?? []) {
      for (const observed of files.values()) {
        if (!observed.isKnown) yield this.#newFile(joinPath(directory, observed.name), observed)
      }
    }
  }

  /** Paths that could not be read and have no other row. */
  *listProblems(): Generator<ReportRow> {
    const { differences, row } = this.#sides
    const problems = differences ? differences.problems.values() : this.#store.problems.list(row.id)
    for (const { path, message } of problems) {
      if (!this.#problemPaths.has(path)) continue
      yield rowOf({ ...blankEntry(path, { class: 'needs-attention', reason: message }) })
    }
  }

  *listLeftOut(): Generator<ReportRow> {
    for (const { path, reason } of this.#sides.differences?.leftOut ?? []) {
      yield rowOf(blankEntry(path, { class: 'ignored', reason }))
    }
  }

  *listSuperseded(): Generator<ReportRow> {
    const { row } = this.#sides
    const vacated = Map.groupBy(this.#vacated, ({ file }) => file.contentId)
    for (const { file, path } of this.#vacated) {
      if (file.state !== 'stored' || this.#claimed.has(file.contentId)) continue
      if (this.#store.files.countCopies(file.contentId) > (vacated.get(file.contentId)?.length ?? 0)) continue
      this.#claimed.add(file.contentId)
      yield* this.#superseded({ ...file, id: file.contentId }, path, 'gone')
    }
    for (const content of this.#store.report.listSuperseded(row.id)) {
      if (!this.#claimed.has(content.id)) yield* this.#superseded(content, content.path, content.reason)
    }
  }

  /** Remote entries that no content of the store accounts for. */
  *listUntracked(): Generator<ReportRow> {
    const { row, places, isFirstOfLibrary, listing } = this.#sides
    if (!listing) return
    for (const resourceId of this.#store.report.listUntracked(row.library.id)) {
      const locations = this.#locationsOf({ resourceId })
      const isHere = locations.some(({ directory }) => places.some((place) => isWithin(place, directory)))
      if (isHere || isFirstOfLibrary)
        yield { entry: untrackedEntry(locations), isElsewhere: !isHere, isSetAside: false, kindWithoutText: null }
    }
  }

  #knownFile(file: FileRow, path: string, observed: ObservedFile | undefined): ReportRow {
    const locations = this.#locationsOf(file)
    const isSame = observed === undefined || isSameContent(observed, file)
    const problem = this.#problemPaths.delete(path) ? this.#problemText(path) : null
    const isHidden = this.#sides.differences?.isUnreadable(file.directory) === true
    const seen = isSame ? this.#classify(file, locations, problem) : this.#differentFile(file, observed)
    const known = isHidden ? classifyHidden() : seen
    if (isSame) this.#claimed.add(file.contentId)
    const original = this.#originals.get(file.contentId)
    const entry = contentEntry(path, known, { ...file, id: file.contentId }, locations)
    const isAlias = isSame && original !== undefined && original !== path
    return rowOf(isAlias ? { ...entry, duplicateOf: original } : entry, known)
  }

  /** Classifies a file that changed since the last scan; its new content may be stored already. */
  #differentFile(file: FileRow, observed: ObservedFile): Classified {
    const content = this.#contentOf(observed)
    if (content?.state !== 'stored') return classifyDifferent(file.state === 'stored')
    this.#claimed.add(content.id)
    return this.#classify(content, this.#locationsOf(content), null)
  }

  #classify(content: Omit<ContentRow, 'id'>, locations: readonly ListedEntry[], problem: string | null): Classified {
    const isCutOff = content.state === 'sending' && !this.#isHeld
    const known = isCutOff ? { ...content, state: 'doubt' as const } : content
    return classifyFile(known, this.#presenceOf(content, locations), { problem, heldBack: this.#heldBack })
  }

  #newFile(path: string, observed: ObservedFile): ReportRow {
    const content = this.#contentOf(observed)
    if (content) {
      this.#claimed.add(content.id)
      const locations = this.#locationsOf(content)
      const known = this.#classify(content, locations, null)
      return rowOf(contentEntry(path, known, content, locations), known)
    }
    const { sizeBytes: size, mime, sha256 } = observed
    return rowOf({
      ...blankEntry(path, classifyDifferent(false)),
      size,
      mime,
      sha256: Buffer.from(sha256).toString('hex'),
    })
  }

  *#superseded(content: ContentRow, path: string, reason: string): Generator<ReportRow> {
    const locations = this.#locationsOf(content)
    // A content that neither side has any more gets no row.
    if (locations.length === 0 && this.#presenceOf(content, locations) === 'absent') return
    yield rowOf(contentEntry(path, classifySuperseded(reason), content, locations))
  }

  #contentOf({ sha256, mime, sizeBytes: size }: ObservedFile): ContentRow | undefined {
    return this.#store.contents.find({ libraryId: this.#sides.row.library.id, sha256, mime, size })
  }

  #locationsOf({ resourceId }: { resourceId: string | null }): ListedEntry[] {
    return resourceId === null ? [] : this.#store.report.listLocations(this.#sides.row.library.id, resourceId)
  }

  #presenceOf(content: { resourceId: string | null }, locations: readonly ListedEntry[]): Presence {
    const { listing } = this.#sides
    if (!listing || content.resourceId === null) return 'unasked'
    if (locations.length > 0) return 'listed'
    return listing.incomplete.length > 0 ? 'unknown' : 'absent'
  }

  #problemText(path: string): string {
    const { differences, row } = this.#sides
    return (differences?.problems.get(path) ?? this.#store.problems.find(row.id, path))?.message ?? 'cannot be read'
  }
}

/** For each content that several files have: the path of the file that was uploaded, or else of the first. */
function findOriginals(store: StoreReader, mirrorId: number): Map<number, string> {
  const originals = new Map<number, string>()
  for (const { contentId, path } of store.report.iterateCopies(mirrorId)) {
    if (!originals.has(contentId)) originals.set(contentId, path)
  }
  return originals
}

function isSameContent(observed: ObservedFile, file: FileRow): boolean {
  return file.mime === observed.mime && file.sha256.equals(observed.sha256)
}

function rowOf(entry: ReportEntry, known?: Classified): ReportRow {
  const { isSetAside, kindWithoutText = null } = known ?? {}
  return { entry, isElsewhere: false, isSetAside: isSetAside === true, kindWithoutText }
}

function contentEntry(
  path: string,
  known: Classified,
  content: ContentRow,
  locations: readonly ListedEntry[],
): ReportEntry {
  return {
    ...blankEntry(path, known),
    size: content.size,
    sha256: content.sha256.toString('hex'),
    mime: content.mime,
    resourceId: content.resourceId,
    remotePaths: pathsOf(locations),
    remoteFilename: locations[0]?.filename ?? null,
    ingestionStatus: content.ingestionStatus,
    uploadedAt: isoOrNull(content.uploadedAt),
    searchableAt: isoOrNull(content.searchableAt),
  }
}

function untrackedEntry(locations: readonly ListedEntry[]): ReportEntry {
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

function pathsOf(locations: readonly ListedEntry[]): string[] {
  return locations.map(({ directory, filename }) => joinLibraryPath(directory, filename))
}

function isoOrNull(timeMs: number | null): string | null {
  return timeMs === null ? null : new Date(timeMs).toISOString()
}
