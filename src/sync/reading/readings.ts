import type {
  ClassCounts,
  ProblemsInput,
  ProblemsPage,
  RowsInput,
  RowsPage,
  Timeline,
  TimelineSpan,
  TreePage,
} from '../../contract/dashboard.ts'
import { ROWS_A_PAGE } from '../../contract/dashboard-addresses.ts'
import type { RulesEffect } from '../../contract/mirror-edits.ts'
import type { IngestionOutcome } from '../../contract/states.ts'
import { type Clock, systemClock } from '../../foundation/clock.ts'
import { RequestError } from '../../foundation/errors.ts'
import { HOUR_MS, MINUTE_MS } from '../../foundation/text/times.ts'
import type { Published } from '../../ledger/published.ts'
import { openStoreReader, type StoreReader } from '../../store/open-store.ts'
import {
  type ClassTally,
  createReportSnapshot,
  type ReportSnapshot,
  type SnapshotRow,
} from '../../store/report-snapshot.ts'
import type { SentResource } from '../../store/tables/sent-resources.ts'
import { sentFinder } from '../filtered-search.ts'
import type { ReportRow } from '../report/report-entry.ts'
import { listRows } from '../report/report-rows.ts'
import { type MirrorStatus, readStatus } from '../report/status-of-mirrors.ts'
import { type PreviewInput, previewRules } from './preview-rules.ts'
import { type OverviewInput, type ReadMirror, readOverview } from './read-overview.ts'
import { listFailed, readProblems } from './read-problems.ts'
import { type PublishedInput, readPublished } from './read-published.ts'

/** What the dashboard and the metrics read: everything from the store, except `preview`. */
export interface Readings {
  overview(input: OverviewInput): readonly ReadMirror[]
  rows(input: RowsInput): RowsPage
  tree(input: { readonly mirror: string; readonly directory: string }): TreePage
  problems(input: ProblemsInput): ProblemsPage
  failed(input: Parameters<typeof listFailed>[1]): readonly number[]
  timeline(input: { readonly span: TimelineSpan; readonly nowMs: number }): Timeline
  counts(input: object): readonly MirrorCounts[]
  published(input: PublishedInput): Published
  /** Returns what the store has about each resource; undefined for a resource that no mirror sent. */
  sentResources(input: SentResourcesInput): readonly (SentResource | undefined)[]
  /** Returns which files other rules would add or leave out, from a listing of the directory. */
  preview(input: PreviewInput): RulesEffect
}

interface SentResourcesInput {
  readonly origin: string
  readonly resourceIds: readonly string[]
}

/** Long compared with the duration of a reading, so that frequent scrapes of a large mirror cost little. */
const COUNTS_LIFETIME = { durationFactor: 100, minMs: 0, maxMs: 5 * MINUTE_MS }

/** Opens the store anew for each reading, so that none delays the maintenance of the store or holds a deleted store open. */
export function createReadings(stateDir: string): Readings {
  const report = new ReportReader()
  const timeline = new CachedReading<Timeline>()
  const counts = new CachedReading<readonly MirrorCounts[]>({ lifetime: COUNTS_LIFETIME })
  const published = new CachedReading<Published>({ lifetime: COUNTS_LIFETIME })
  const withStore = <T>(read: (store: StoreReader | undefined) => T): T => {
    using store = openStoreReader(stateDir)
    return read(store)
  }
  return {
    overview: (input) => withStore((store) => readOverview(store, input)),
    rows: (input) => withStore((store) => report.rows(store, input)),
    tree: (input) => withStore((store) => report.tree(store, input)),
    problems: (input) => withStore((store) => readProblems(store, input)),
    failed: (input) => withStore((store) => listFailed(store, input)),
    timeline: ({ span, nowMs }) => timeline.get(span, () => withStore((store) => readTimeline(store, span, nowMs))),
    counts: () => counts.get('', () => withStore((store) => (store ? countStore(store) : []))),
    published: (input) => published.get('', () => withStore((store) => readPublished(store, input))),
    sentResources: ({ origin, resourceIds }) => withStore((store) => sentFinder(store, origin)(resourceIds)),
    preview: previewRules,
  }
}

/** How long a value stays cached: a multiple of the time that it took to read, within bounds. */
interface Lifetime {
  readonly durationFactor: number
  readonly minMs: number
  readonly maxMs: number
}

const DEFAULT_LIFETIME: Lifetime = { durationFactor: 20, minMs: 2_000, maxMs: Number.POSITIVE_INFINITY }

interface CachedOptions<T> {
  readonly lifetime?: Lifetime
  readonly clock?: Pick<Clock, 'monotonicMs'>
  /** Called with the cached value before another one is read. */
  readonly onDropped?: (value: T) => void
}

export class CachedReading<T> {
  readonly #lifetime: Lifetime
  readonly #clock: Pick<Clock, 'monotonicMs'>
  readonly #onDropped: (value: T) => void
  #cached: { readonly key: string; readonly value: T; readonly untilMs: number } | undefined

  constructor({ lifetime = DEFAULT_LIFETIME, clock = systemClock, onDropped = () => {} }: CachedOptions<T> = {}) {
    this.#lifetime = lifetime
    this.#clock = clock
    this.#onDropped = onDropped
  }

  /** Returns the cached value if it has this key; otherwise reads a value and caches it. Errors are not cached. */
  get(key: string, read: () => T): T {
    const startMs = this.#clock.monotonicMs()
    if (this.#cached?.key === key && startMs < this.#cached.untilMs) return this.#cached.value
    if (this.#cached) this.#onDropped(this.#cached.value)
    this.#cached = undefined
    const value = read()
    const endMs = this.#clock.monotonicMs()
    const { durationFactor, minMs, maxMs } = this.#lifetime
    const lifetimeMs = Math.min(maxMs, Math.max(minMs, durationFactor * (endMs - startMs)))
    this.#cached = { key, value, untilMs: endMs + lifetimeMs }
    return value
  }
}

const MAX_DIRECTORIES = 500
const MAX_FILES = 100

interface ReadRows {
  readonly rows: ReportSnapshot
  readonly readAt: string
}

/** Reads pages of the report from the store, and caches the rows of the last mirror. */
class ReportReader {
  readonly #cached = new CachedReading<ReadRows>({ onDropped: ({ rows }) => rows[Symbol.dispose]() })

  rows(store: StoreReader | undefined, input: RowsInput): RowsPage {
    const { rows, readAt } = this.#rowsOf(store, input.mirror)
    const counts = countsOf(rows.tally(input))
    const chosen = Object.entries(counts).filter(
      ([name]) => input.classes.length === 0 || input.classes.some((each) => each === name),
    )
    return {
      readAt,
      total: chosen.reduce((sum, [, n]) => sum + n, 0),
      counts,
      rows: rows.list(input, { offset: input.offset, limit: ROWS_A_PAGE }),
    }
  }

  tree(store: StoreReader | undefined, { mirror, directory }: { mirror: string; directory: string }): TreePage {
    const { rows, readAt } = this.#rowsOf(store, mirror)
    const byName = Map.groupBy(rows.tallyDirectories(directory), ({ name }) => name)
    const directories = [...byName].map(([name, tallies]) => ({ name, counts: countsOf(tallies) }))
    const files = rows.listFiles(directory, MAX_FILES)
    return {
      readAt,
      directories: directories.slice(0, MAX_DIRECTORIES),
      moreDirectories: Math.max(0, directories.length - MAX_DIRECTORIES),
      files,
      moreFiles: rows.countFiles(directory) - files.length,
    }
  }

  #rowsOf(store: StoreReader | undefined, mirror: string): ReadRows {
    return this.#cached.get(mirror, () => readRows(store, mirror))
  }
}

/** Throws RequestError `not-found` for a mirror that is not in the store. */
function readRows(store: StoreReader | undefined, mirror: string): ReadRows {
  const row = store?.mirrors.findByName(mirror)
  if (!store || !row) throw new RequestError('not-found', `Nothing of the mirror "${mirror}" was sent yet`, 404)
  const rows = createReportSnapshot()
  const sides = { listing: undefined, asked: new Map(), differences: undefined, paths: [], isFirstOfLibrary: false }
  rows.add(toSnapshot(listRows(store, { row, ...sides })))
  return { rows, readAt: new Date().toISOString() }
}

function* toSnapshot(rows: Iterable<ReportRow>): Generator<SnapshotRow> {
  for (const row of rows) {
    const { entry } = row
    const { path, reason, size: sizeBytes, resourceId } = entry
    yield { path, class: row.state, reason, sizeBytes, resourceId }
  }
}

function countsOf(tallies: readonly ClassTally[]): ClassCounts {
  return Object.fromEntries(tallies.map((tally) => [tally.class, tally.n]))
}

const SPANS: Readonly<Record<TimelineSpan, { readonly intervalMs: number; readonly intervals: number }>> = {
  hour: { intervalMs: MINUTE_MS, intervals: 60 },
  day: { intervalMs: 15 * MINUTE_MS, intervals: 96 },
  month: { intervalMs: 6 * HOUR_MS, intervals: 120 },
}

/** Returns what was sent in the span that ends at `nowMs`. Intervals begin at whole multiples of their length since the epoch. */
export function readTimeline(store: StoreReader | undefined, span: TimelineSpan, nowMs: number): Timeline {
  const { intervalMs, intervals } = SPANS[span]
  const toMs = (Math.floor(nowMs / intervalMs) + 1) * intervalMs
  const fromMs = toMs - intervals * intervalMs
  const spec = { fromMs, toMs, intervalMs }
  const tallies = new Map(store?.timeline.tally(spec).map((tally) => [tally.slot, tally]))
  const medians = new Map(store?.timeline.listMedians(spec).map(({ slot, medianMs }) => [slot, medianMs]))
  const each = <T>(value: (slot: number) => T): T[] => Array.from({ length: intervals }, (_, slot) => value(slot))
  return {
    fromMs,
    intervalMs,
    sent: each((slot) => tallies.get(slot)?.sent ?? 0),
    bytes: each((slot) => tallies.get(slot)?.bytes ?? 0),
    failed: each((slot) => tallies.get(slot)?.failed ?? 0),
    searchableAfterMs: each((slot) => medians.get(slot) ?? null),
  }
}

export interface MirrorCounts extends Pick<MirrorStatus, 'name' | 'files' | 'queue' | 'directoriesToMake'> {
  /** How many paths and contents have a problem, by its code. */
  readonly problems: ReadonlyMap<string, number>
  /** How many uploaded contents there are, by the outcome of their ingestion. */
  readonly outcomes: Readonly<Record<IngestionOutcome, number>>
}

/** Counts the whole store, which takes seconds for a million files. */
function countStore(store: StoreReader): MirrorCounts[] {
  const ids = new Map(store.mirrors.list().map(({ name, id }) => [name, id]))
  return readStatus(store).map(({ name, files, queue, directoriesToMake, problems }) => {
    const outcomes = countOutcomes(store, ids.get(name) ?? 0)
    return { name, files, queue, directoriesToMake, problems: countCodes(problems), outcomes }
  })
}

function countOutcomes(store: StoreReader, mirrorId: number): MirrorCounts['outcomes'] {
  const outcomes = { pending: 0, searchable: 0, partial: 0, failed: 0, unknown: 0 }
  for (const { outcome, contents } of store.report.tallyStates(mirrorId)) {
    if (outcome !== null) outcomes[outcome] += contents
  }
  return outcomes
}

function countCodes(problems: MirrorStatus['problems']): Map<string, number> {
  const counts = new Map<string, number>()
  for (const { code } of problems) counts.set(code, (counts.get(code) ?? 0) + 1)
  return counts
}
