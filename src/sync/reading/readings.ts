import type { Problems, RowsInput, RowsPage, Timeline, TimelineSpan, TreePage } from '../../contract/dashboard.ts'
import { MINUTE_MS } from '../../foundation/text/times.ts'
import { openStoreReader, type StoreReader } from '../../store/open-store.ts'
import { countStore, type MirrorCounts } from './count-store.ts'
import { KeptReading } from './kept-reading.ts'
import { type OverviewInput, type ReadMirror, readOverview } from './read-overview.ts'
import { readProblems } from './read-problems.ts'
import { ReportReader } from './read-report.ts'
import { readTimeline } from './read-timeline.ts'

/** The readings of the store for the dashboard and the metrics. */
export interface Readings {
  overview(input: OverviewInput): readonly ReadMirror[]
  rows(input: RowsInput): RowsPage
  tree(input: { readonly mirror: string; readonly directory: string }): TreePage
  problems(input: object): Problems
  timeline(input: { readonly span: TimelineSpan; readonly nowMs: number }): Timeline
  counts(input: object): readonly MirrorCounts[]
}

/** Frequent scrapes of a large tree cost little. */
const COUNTS_USE = { perReading: 100, leastMs: 0, mostMs: 5 * MINUTE_MS }

/** Reads the store in `stateDir`, opened anew each time, so that no reading holds up the store's upkeep or outlives the store. */
export function createReadings(stateDir: string): Readings {
  const report = new ReportReader()
  const timeline = new KeptReading<Timeline>()
  const counts = new KeptReading<readonly MirrorCounts[]>({ use: COUNTS_USE })
  const withStore = <T>(read: (store: StoreReader | undefined) => T): T => {
    using store = openStoreReader(stateDir)
    return read(store)
  }
  return {
    overview: (input) => withStore((store) => readOverview(store, input)),
    rows: (input) => withStore((store) => report.rows(store, input)),
    tree: (input) => withStore((store) => report.tree(store, input)),
    problems: () => withStore(readProblems),
    timeline: ({ span, nowMs }) => timeline.get(span, () => withStore((store) => readTimeline(store, span, nowMs))),
    counts: () => counts.get('', () => withStore((store) => (store ? countStore(store) : []))),
  }
}
