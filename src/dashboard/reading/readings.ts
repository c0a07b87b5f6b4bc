import type { Problems, RowsInput, RowsPage, Timeline, TimelineSpan, TreePage } from '../../contract/dashboard.ts'
import { openStoreReader } from '../../store/open-store.ts'
import { KeptReading } from './kept-reading.ts'
import { type OverviewInput, type ReadMirror, readOverview } from './read-overview.ts'
import { readProblems } from './read-problems.ts'
import { ReportReader } from './read-report.ts'
import { readTimeline } from './read-timeline.ts'

/** What the dashboard reads of the store, each with its input and its answer. */
export interface Readings {
  overview(input: OverviewInput): readonly ReadMirror[]
  rows(input: RowsInput): RowsPage
  tree(input: { readonly mirror: string; readonly directory: string }): TreePage
  problems(input: object): Problems
  timeline(input: { readonly span: TimelineSpan; readonly nowMs: number }): Timeline
}

/** Reads the store in `stateDir`, opened anew each time, so that no reading holds up the store's upkeep or outlives the store. */
export function createReadings(stateDir: string): Readings {
  const report = new ReportReader()
  const timeline = new KeptReading<Timeline>()
  return {
    overview: (input) => {
      using store = openStoreReader(stateDir)
      return readOverview(store, input)
    },
    rows: (input) => {
      using store = openStoreReader(stateDir)
      return report.rows(store, input)
    },
    tree: (input) => {
      using store = openStoreReader(stateDir)
      return report.tree(store, input)
    },
    problems: () => {
      using store = openStoreReader(stateDir)
      return readProblems(store)
    },
    timeline: ({ span, nowMs }) =>
      timeline.get(span, () => {
        using store = openStoreReader(stateDir)
        return readTimeline(store, span, nowMs)
      }),
  }
}
