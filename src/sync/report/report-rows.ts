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

/** The service's answers about resources that its complete listing lacks, by resource id. */
export type AskedResources = ReadonlyMap<string, Extract<Presence, 'listed' | 'absent'>>

interface Sides {
  readonly row: MirrorRow
  /** Undefined if the library was not listed. */
  readonly listing: Listing | undefined
  readonly asked: AskedResources
  /** Undefined if the disk was not scanned. */
  readonly differences: Differences | undefined
  /** Library paths; remote entries at and below them belong to this mirror. */
  readonly paths: readonly string[]
  /** Whether the rows include all other remote entries of the library: only those of its first mirror do. */
  readonly isFirstOfLibrary: boolean
}

/** Yields every row; each file and each remote entry is in exactly one class (P19, the report adds up). */
export function* listRows(store: StoreReader, sides: Sides): Generator<ReportRow> {
  const rows = new MirrorRows(store, sides)
  yield* rows.listStoredFiles()
  yield* rows.listOthers()
}

/** Yields the same rows, except that most files which are in sync without a remark are only counted. */
export function* listDifferingRows(store: StoreReader, sides: Sides): Generator<ReportRow | PlainFiles> {
  const rows = new MirrorRows(store, sides)
  yield* rows.listDifferingFiles()
  yield* rows.listOthers()
}

class MirrorRows {
  readonly #store: StoreReader
  readonly #sides: Sides
  /** Whether a process holds the store. If none does, the upload of each content in the state `sending` was cut off. */
  readonly #isLocked: boolean
  /** Why limits held back new contents in the last run; null if none did. */
  readonly #heldBack: string | null
  /** Paths by content; undefined if originals are queried for each content instead. */
  #originals: ReadonlyMap<number, string> | undefined
  /** Paths whose problem is not part of a row yet. */
  readonly #problemPaths: Set<string>
  /** Ids of contents that are part of a row already. */
  readonly #reported = new IdSet()
  /** Files in the store that are no longer on the disk. */
  readonly #missing: { readonly file: ReportedFile; readonly path: string }[] = []

  constructor(store: StoreReader, sides: Sides) {
    this.#store = store
    this.#sides = sides
    this.#isLocked = store.isLocked()
    this.#heldBack = describeHeldBack(store, sides.row)
    this.#problemPaths = new Set(
      sides.differences?.problems.keys() ?? store.problems.list(sides.row.id).map(({ path }) => path),
    )
  }

  *listStoredFiles(): Generator<ReportRow> {
    const { row } = this.#sides
    this.#originals = findOriginals(this.#store, row.id)
    for (const { file, locations } of joinLocations(this.#store.report.iterateFiles(row.id))) {
      const found = this.#rowUnlessMissing(file, locations)
      if (found) yield found
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
        const found = this.#rowUnlessMissing(withHex(file), this.#locationsOf(file))
        if (found) yield found
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
        if (!hashed.isInStore) yield this.#newFile(joinPath(directory, hashed.name), hashed)
      }
    }
  }

  /** Lists unreadable paths that have no other row. */
  *#listProblems(): Generator<ReportRow> {
    const { differences, row } = this.#sides
    const problems = differences ? differences.problems.values() : this.#store.problems.list(row.id)
    for (const problem of problems) {
      if (!this.#problemPaths.has(problem.path)) continue
      const classified = classifyTrouble(this.#problemOf(problem.path) ?? problem, false)
      yield rowOf(blankEntry(problem.path, classified), classified)
    }
  }

  *#listLeftOut(): Generator<ReportRow> {
    for (const { path, ...leftOut } of this.#sides.differences?.leftOut ?? []) {
      const classified = classifyLeftOut(leftOut)
      yield rowOf(blankEntry(path, classified), classified)
    }
  }

  *#listSuperseded(): Generator<ReportRow> {
    const { row } = this.#sides
    const missing = Map.groupBy(this.#missing, ({ file }) => file.contentId)
    for (const { file, path } of this.#missing) {
      if (file.state !== 'stored' || this.#reported.has(file.contentId)) continue
      if (this.#store.files.countCopies(file.contentId) > (missing.get(file.contentId)?.length ?? 0)) continue
      this.#reported.add(file.contentId)
      yield* this.#superseded(file, path, 'gone')
    }
    for (const content of this.#store.report.listSuperseded(row.id)) {
      if (!this.#reported.has(content.id)) yield* this.#superseded(withHex(content), content.path, content.reason)
    }
  }

  /** Lists remote entries that belong to no content in the store. */
  *#listForeign(): Generator<ReportRow> {
    const { row, paths, isFirstOfLibrary, listing } = this.#sides
    if (!listing) return
    for (const resourceId of this.#store.report.listForeign(row.library.id)) {
      const locations = this.#locationsOf({ resourceId })
      const isOfMirror = locations.some(({ directory }) => paths.some((path) => isWithin(path, directory)))
      if (isOfMirror || isFirstOfLibrary) yield { ...rowOf(foreignEntry(locations)), isElsewhere: !isOfMirror }
    }
  }

  /** Returns the directories with problems, or with entries that differ between disk and store. */
  #directoriesToCompare(): ReadonlySet<string> {
    const { differences } = this.#sides
    const found = new Set(Array.from(this.#problemPaths, parentOf))
    if (!differences) return found
    // `files` also has directories whose only changes are missing files.
    const { files, missingDirectories, unreadableDirectories } = differences
    for (const path of [...files.keys(), ...missingDirectories, ...unreadableDirectories]) found.add(path)
    return found
  }

  #rowUnlessMissing(file: ReportedFile, locations: readonly Location[]): ReportRow | undefined {
    const { differences } = this.#sides
    const path = joinPath(file.directory, file.name)
    if (differences?.missing.has(path) || differences?.missingDirectories.has(file.directory)) {
      this.#missing.push({ file, path })
      return undefined
    }
    return this.#fileRow(file, path, locations)
  }

  #fileRow(file: ReportedFile, path: string, locations: readonly Location[]): ReportRow {
    const { differences } = this.#sides
    const hashed = differences?.files.get(file.directory)?.get(file.name)
    const isSame = hashed === undefined || isSameContent(hashed, file)
    const problem = this.#problemPaths.delete(path) ? this.#problemOf(path) : null
    const isHidden = differences?.unreadableDirectories.has(file.directory) === true
    const ifReadable = isSame ? this.#classify(file, locations, problem) : this.#classifyChanged(file, hashed)
    const classified = isHidden ? classifyHidden() : ifReadable
    if (isSame) this.#reported.add(file.contentId)
    const original = isSame ? this.#originalOf(file) : undefined
    const duplicateOf = original === undefined || original === path ? null : original
    return rowOf(contentEntry(path, classified, file, locations, duplicateOf), classified)
  }

  /** Returns the path of the content's original. It may be undefined, or this file, if no other file has the content. */
  #originalOf({ contentId }: ReportedFile): string | undefined {
    if (this.#originals) return this.#originals.get(contentId)
    return this.#store.report.findOriginal(this.#sides.row.id, contentId)
  }

  /** Classifies a file that changed since the last scan; its new content may be stored already. */
  #classifyChanged(file: ReportedFile, hashed: HashedFile): Classified {
    const content = this.#contentOf(hashed)
    if (content?.state !== 'stored') return classifyDifferent(file.state === 'stored')
    this.#reported.add(content.id)
    return this.#classify(content, this.#locationsOf(content), null)
  }

  #classify(
    content: Omit<ReportedContent, 'sha256Hex'>,
    locations: readonly Location[],
    problem: FileCircumstances['problem'],
  ): Classified {
    const isCutOff = content.state === 'sending' && !this.#isLocked
    const actual = isCutOff ? { ...content, state: 'doubt' as const } : content
    return classifyFile(actual, this.#presenceOf(content, locations), { problem, heldBack: this.#heldBack })
  }

  #newFile(path: string, hashed: HashedFile): ReportRow {
    const content = this.#contentOf(hashed)
    if (content) {
      this.#reported.add(content.id)
      const locations = this.#locationsOf(content)
      const classified = this.#classify(content, locations, null)
      return rowOf(contentEntry(path, classified, withHex(content), locations), classified)
    }
    const { sizeBytes: size, mime, sha256 } = hashed
    return rowOf({ ...blankEntry(path, classifyDifferent(false)), size, mime, sha256: hexOf(sha256) })
  }

  *#superseded(content: ReportedContent, path: string, reason: string): Generator<ReportRow> {
    const locations = this.#locationsOf(content)
    // A content that is neither on the disk nor in the library gets no row, and the service is not asked about it.
    const { listing } = this.#sides
    if (listing?.incomplete.length === 0 && locations.length === 0) return
    const classified = classifySuperseded(reason, content)
    yield rowOf(contentEntry(path, classified, content, locations), classified)
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
    const stored = this.#store.problems.find(row.id, path) ?? null
    const found = differences?.problems.get(path)
    if (found === undefined) return stored
    return { ...found, isSetAside: stored?.code === found.code ? stored.isSetAside : 0 }
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

/** Returns, for each content that several files have, the path of the file that was uploaded, or else of the first file. */
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
