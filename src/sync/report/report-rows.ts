import { isWithin, joinPath, parentOf } from '../../foundation/files/paths.ts'
import { IdSet } from '../../foundation/id-set.ts'
import {
  type Classified,
  classifyDifferent,
  classifyFile,
  classifyHidden,
  classifyLeftOut,
  classifySuperseded,
  classifyTrouble,
  type FileCircumstances,
  type Presence,
} from '../../rules/report-class.ts'
import type { StoreReader } from '../../store/open-store.ts'
import type { ContentRow } from '../../store/tables/contents.ts'
import type { MirrorRow } from '../../store/tables/mirrors.ts'
import type { Listed, LocatedFile, ReportedFile } from '../../store/tables/report-queries.ts'
import type { Listing } from '../library/list-library.ts'
import type { Differences, HashedFile } from '../scan/scan-batch.ts'
import {
  blankEntry,
  contentEntry,
  foreignEntry,
  hexOf,
  type Location,
  type PlainFiles,
  type ReportedContent,
  type ReportRow,
  rowOf,
  withHex,
} from './report-entry.ts'
import { describeHeldBack } from './run-history.ts'

/** The service's answers about resources that its complete listing did not show, by resource id. */
export type AskedResources = ReadonlyMap<string, Extract<Presence, 'listed' | 'absent'>>

interface Sides {
  readonly row: MirrorRow
  /** Undefined: the service was not asked for its entries. */
  readonly listing: Listing | undefined
  /** The service's answers about resources that the listing does not show. */
  readonly asked: AskedResources
  /** Undefined: the disk was not scanned. */
  readonly differences: Differences | undefined
  readonly places: readonly string[]
  /** The report of the first mirror of a library includes the entries elsewhere in it. */
  readonly isFirstOfLibrary: boolean
}

/** Yields every row; each file and each remote entry is in exactly one class (P19, the report adds up). */
export function* listRows(store: StoreReader, sides: Sides): Generator<ReportRow> {
  const rows = new MirrorRows(store, sides)
  yield* rows.listKnownFiles()
  yield* rows.listOthers()
}

/** Yields the same rows, but only the number of most files that are in sync without a remark. */
export function* listDifferingRows(store: StoreReader, sides: Sides): Generator<ReportRow | PlainFiles> {
  const rows = new MirrorRows(store, sides)
  yield* rows.listDifferingFiles()
  yield* rows.listOthers()
}

class MirrorRows {
  readonly #store: StoreReader
  readonly #sides: Sides
  /** A process holds the store, so that `sending` means in flight; otherwise it was cut off. */
  readonly #isLocked: boolean
  /** Why limits held back new contents in the last run; null: none did. */
  readonly #heldBack: string | null
  /** Undefined unless one query found the originals of all contents. */
  #originals: ReadonlyMap<number, string> | undefined
  readonly #problemPaths: Set<string>
  readonly #claimed = new IdSet()
  /** Files in the store that are no longer on the disk. */
  readonly #vacated: { readonly file: ReportedFile; readonly path: string }[] = []

  constructor(store: StoreReader, sides: Sides) {
    this.#store = store
    this.#sides = sides
    this.#isLocked = store.isLocked()
    this.#heldBack = describeHeldBack(store, sides.row)
    this.#problemPaths = new Set(
      sides.differences?.problems.keys() ?? store.problems.list(sides.row.id).map(({ path }) => path),
    )
  }

  *listKnownFiles(): Generator<ReportRow> {
    const { row } = this.#sides
    this.#originals = findOriginals(this.#store, row.id)
    for (const { file, locations } of joinLocations(this.#store.report.iterateFiles(row.id))) {
      const known = this.#presentFile(file, locations)
      if (known) yield known
    }
  }

  *listDifferingFiles(): Generator<ReportRow | PlainFiles> {
    const { row, listing } = this.#sides
    const toCompare = this.#directoriesToCompare()
    let plainFiles = 0
    for (const { path, files, mayDiffer } of this.#store.report.iterateDirectories(row.id, listing !== undefined)) {
      if (mayDiffer === 0 && !toCompare.has(path)) {
        plainFiles += files
        continue
      }
      for (const file of this.#store.report.listFiles(row.id, path)) {
        const known = this.#presentFile(withHex(file), this.#locationsOf(file))
        if (known) yield known
      }
    }
    yield { plainFiles }
  }

  *listOthers(): Generator<ReportRow> {
    yield* this.#listNewFiles()
    yield* this.#listProblems()
    yield* this.#listLeftOut()
    yield* this.#listSuperseded()
    yield* this.#listForeign()
  }

  *#listNewFiles(): Generator<ReportRow> {
    for (const [directory, files] of this.#sides.differences?.files ?? []) {
      for (const hashed of files.values()) {
        if (!hashed.isKnown) yield this.#newFile(joinPath(directory, hashed.name), hashed)
      }
    }
  }

  /** Paths that could not be read and have no other row. */
  *#listProblems(): Generator<ReportRow> {
    const { differences, row } = this.#sides
    const problems = differences ? differences.problems.values() : this.#store.problems.list(row.id)
    for (const problem of problems) {
      if (!this.#problemPaths.has(problem.path)) continue
      const known = classifyTrouble(this.#problemOf(problem.path) ?? problem, false)
      yield rowOf(blankEntry(problem.path, known), known)
    }
  }

  *#listLeftOut(): Generator<ReportRow> {
    for (const { path, ...leftOut } of this.#sides.differences?.leftOut ?? []) {
      const known = classifyLeftOut(leftOut)
      yield rowOf(blankEntry(path, known), known)
    }
  }

  *#listSuperseded(): Generator<ReportRow> {
    const { row } = this.#sides
    const vacated = Map.groupBy(this.#vacated, ({ file }) => file.contentId)
    for (const { file, path } of this.#vacated) {
      if (file.state !== 'stored' || this.#claimed.has(file.contentId)) continue
      if (this.#store.files.countCopies(file.contentId) > (vacated.get(file.contentId)?.length ?? 0)) continue
      this.#claimed.add(file.contentId)
      yield* this.#superseded(file, path, 'gone')
    }
    for (const content of this.#store.report.listSuperseded(row.id)) {
      if (!this.#claimed.has(content.id)) yield* this.#superseded(withHex(content), content.path, content.reason)
    }
  }

  /** Remote entries that no content of the store accounts for. */
  *#listForeign(): Generator<ReportRow> {
    const { row, places, isFirstOfLibrary, listing } = this.#sides
    if (!listing) return
    for (const resourceId of this.#store.report.listForeign(row.library.id)) {
      const locations = this.#locationsOf({ resourceId })
      const isHere = locations.some(({ directory }) => places.some((place) => isWithin(place, directory)))
      if (isHere || isFirstOfLibrary) yield { ...rowOf(foreignEntry(locations)), isElsewhere: !isHere }
    }
  }

  /** Directories in which the disk is otherwise than the store knows it. */
  #directoriesToCompare(): ReadonlySet<string> {
    const { differences } = this.#sides
    const found = new Set(Array.from(this.#problemPaths, parentOf))
    if (!differences) return found
    // Among the directories of `files` are those that only miss files.
    const { files, missingDirectories, unreadableDirectories } = differences
    for (const path of [...files.keys(), ...missingDirectories, ...unreadableDirectories]) found.add(path)
    return found
  }

  #presentFile(file: ReportedFile, locations: readonly Location[]): ReportRow | undefined {
    const { differences } = this.#sides
    const path = joinPath(file.directory, file.name)
    if (differences?.missing.has(path) || differences?.missingDirectories.has(file.directory)) {
      this.#vacated.push({ file, path })
      return undefined
    }
    return this.#knownFile(file, path, locations)
  }

  #knownFile(file: ReportedFile, path: string, locations: readonly Location[]): ReportRow {
    const { differences } = this.#sides
    const hashed = differences?.files.get(file.directory)?.get(file.name)
    const isSame = hashed === undefined || isSameContent(hashed, file)
    const problem = this.#problemPaths.delete(path) ? this.#problemOf(path) : null
    const isHidden = differences?.unreadableDirectories.has(file.directory) === true
    const seen = isSame ? this.#classify(file, locations, problem) : this.#differentFile(file, hashed)
    const known = isHidden ? classifyHidden() : seen
    if (isSame) this.#claimed.add(file.contentId)
    const original = isSame ? this.#originalOf(file) : undefined
    const duplicateOf = original === undefined || original === path ? null : original
    return rowOf(contentEntry(path, known, file, locations, duplicateOf), known)
  }

  /** Returns undefined, or the file's own path, if there is no other. */
  #originalOf({ contentId }: ReportedFile): string | undefined {
    if (this.#originals) return this.#originals.get(contentId)
    return this.#store.report.findOriginal(this.#sides.row.id, contentId)
  }

  /** Classifies a file that changed since the last scan; its new content may be stored already. */
  #differentFile(file: ReportedFile, hashed: HashedFile): Classified {
    const content = this.#contentOf(hashed)
    if (content?.state !== 'stored') return classifyDifferent(file.state === 'stored')
    this.#claimed.add(content.id)
    return this.#classify(content, this.#locationsOf(content), null)
  }

  #classify(
    content: Omit<ReportedContent, 'sha256Hex'>,
    locations: readonly Location[],
    problem: FileCircumstances['problem'],
  ): Classified {
    const isCutOff = content.state === 'sending' && !this.#isLocked
    const known = isCutOff ? { ...content, state: 'doubt' as const } : content
    return classifyFile(known, this.#presenceOf(content, locations), { problem, heldBack: this.#heldBack })
  }

  #newFile(path: string, hashed: HashedFile): ReportRow {
    const content = this.#contentOf(hashed)
    if (content) {
      this.#claimed.add(content.id)
      const locations = this.#locationsOf(content)
      const known = this.#classify(content, locations, null)
      return rowOf(contentEntry(path, known, withHex(content), locations), known)
    }
    const { sizeBytes: size, mime, sha256 } = hashed
    return rowOf({ ...blankEntry(path, classifyDifferent(false)), size, mime, sha256: hexOf(sha256) })
  }

  *#superseded(content: ReportedContent, path: string, reason: string): Generator<ReportRow> {
    const locations = this.#locationsOf(content)
    // A content that is on neither side gets no row, and the service is not asked about it.
    const { listing } = this.#sides
    if (listing?.incomplete.length === 0 && locations.length === 0) return
    const known = classifySuperseded(reason, content)
    yield rowOf(contentEntry(path, known, content, locations), known)
  }

  #contentOf({ sha256, mime, sizeBytes: size }: HashedFile): ContentRow | undefined {
    return this.#store.contents.find({ libraryId: this.#sides.row.library.id, sha256, mime, size })
  }

  #locationsOf({ resourceId }: { resourceId: string | null }): Listed[] {
    return resourceId === null ? [] : this.#store.report.listLocations(this.#sides.row.library.id, resourceId)
  }

  #presenceOf(content: { resourceId: string | null }, locations: readonly Location[]): Presence {
    const { listing, asked } = this.#sides
    if (!listing || content.resourceId === null) return 'unasked'
    if (locations.length > 0) return 'listed'
    return listing.incomplete.length > 0 ? 'unknown' : (asked.get(content.resourceId) ?? 'unconfirmed')
  }

  #problemOf(path: string): FileCircumstances['problem'] {
    const { differences, row } = this.#sides
    const known = this.#store.problems.find(row.id, path) ?? null
    const found = differences?.problems.get(path)
    if (found === undefined) return known
    return { ...found, isSetAside: known?.code === found.code ? known.isSetAside : 0 }
  }
}

/** Yields each file once, with all its locations. */
function* joinLocations(
  rows: Iterable<LocatedFile>,
): Generator<{ file: ReportedFile; locations: readonly Location[] }> {
  let file: LocatedFile | undefined
  let locations: Location[] = []
  for (const row of rows) {
    if (file && (row.name !== file.name || row.directory !== file.directory)) {
      yield { file, locations }
      locations = []
    }
    file = row
    const { remoteDirectory: directory, remoteFilename: filename } = row
    if (directory !== null && filename !== null) locations.push({ directory, filename })
  }
  if (file) yield { file, locations }
}

/** For each content that several files have: the path of the file that was uploaded, or else of the first. */
function findOriginals(store: StoreReader, mirrorId: number): Map<number, string> {
  const originals = new Map<number, string>()
  for (const { contentId, path } of store.report.iterateCopies(mirrorId)) {
    if (!originals.has(contentId)) originals.set(contentId, path)
  }
  return originals
}

function isSameContent(hashed: HashedFile, file: ReportedFile): boolean {
  return file.mime === hashed.mime && file.sha256Hex === hexOf(hashed.sha256)
}
