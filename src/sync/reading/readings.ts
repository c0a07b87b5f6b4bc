import type {
  ProblemsInput,
  ProblemsPage,
  RowsInput,
  RowsPage,
  Timeline,
  TimelineSpan,
  TreePage,
} from '../../contract/dashboard.ts'
import type { RulesEffect } from '../../contract/mirror-edits.ts'
import type { IngestionOutcome } from '../../contract/states.ts'
import { HOUR_MS, MINUTE_MS } from '../../foundation/text/times.ts'
import type { Published } from '../../ledger/published.ts'
import { openStoreReader, type StoreReader } from '../../store/open-store.ts'
import type { SentResource } from '../../store/tables/sent-resources.ts'
import { sentFinder } from '../filtered-search.ts'
import { type MirrorStatus, readStatus } from '../report/status-of-mirrors.ts'
import { KeptReading } from './kept-reading.ts'
import { type PreviewInput, previewRules } from './preview-rules.ts'
import { type OverviewInput, type ReadMirror, readOverview } from './read-overview.ts'
import { listFailed, readProblems } from './read-problems.ts'
import { type PublishedInput, readPublished } from './read-published.ts'
import { ReportReader } from './read-report.ts'

/** The readings for the dashboard and the metrics, of the store but for the last one. */
export interface Readings {
  overview(input: OverviewInput): readonly ReadMirror[]
  rows(input: RowsInput): RowsPage
  tree(input: { readonly mirror: string; readonly directory: string }): TreePage
  problems(input: ProblemsInput): ProblemsPage
  failed(input: Parameters<typeof listFailed>[1]): readonly number[]
  timeline(input: { readonly span: TimelineSpan; readonly nowMs: number }): Timeline
  counts(input: object): readonly MirrorCounts[]
  published(input: PublishedInput): Published
  /** What the store has of each resource of a service. */
  sentResources(input: SentResourcesInput): readonly (SentResource | undefined)[]
  /** What other rules would change, by the disk. */
  preview(input: PreviewInput): RulesEffect
}

interface SentResourcesInput {
  readonly origin: string
  readonly resourceIds: readonly string[]
}

/** Frequent scrapes of a large tree cost little. */
const COUNTS_USE = { perReading: 100, leastMs: 0, mostMs: 5 * MINUTE_MS }

/** Opens the store for each reading, so that no reading holds up the store's upkeep or outlives the store. */
export function createReadings(stateDir: string): Readings {
  const report = new ReportReader()
  const timeline = new KeptReading<Timeline>()
  const counts = new KeptReading<readonly MirrorCounts[]>({ use: COUNTS_USE })
  const published = new KeptReading<Published>({ use: COUNTS_USE })
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
  /** Paths and contents by the code of their problem. */
  readonly problems: ReadonlyMap<string, number>
  /** Contents whose upload arrived, by the outcome of their ingestion. */
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
