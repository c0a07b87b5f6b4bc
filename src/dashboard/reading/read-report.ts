import { ROWS_A_PAGE } from '../../contract/dashboard/addresses.ts'
import type { ClassCounts, RowsInput, RowsPage, TreePage } from '../../contract/dashboard/shapes.ts'
import { RejectedError } from '../../foundation/errors.ts'
import type { StoreReader } from '../../store/open-store.ts'
import {
  type ClassTally,
  createReportSnapshot,
  type ReportSnapshot,
  type SnapshotRow,
} from '../../store/report-snapshot.ts'
import type { ReportRow } from '../../sync/report/report-entry.ts'
import { listRows } from '../../sync/report/report-rows.ts'

const MOST_DIRECTORIES = 500
const MOST_FILES = 100

/** A snapshot is used again for twenty times as long as it took, but for two seconds at least. */
const USES_PER_BUILD = 20
const LEAST_USE_MS = 2_000

interface Kept {
  readonly mirror: string
  readonly rows: ReportSnapshot
  readonly readAt: string
  readonly untilMs: number
}

/** Answers pages of the report, by what the state holds. It keeps the rows of one mirror. */
export class ReportReader {
  #kept: Kept | undefined

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
    const files = rows.listFiles(directory, MOST_FILES)
    return {
      readAt,
      directories: directories.slice(0, MOST_DIRECTORIES),
      moreDirectories: Math.max(0, directories.length - MOST_DIRECTORIES),
      files,
      moreFiles: rows.countFiles(directory) - files.length,
    }
  }

  #rowsOf(store: StoreReader | undefined, mirror: string): Kept {
    if (this.#kept?.mirror === mirror && performance.now() < this.#kept.untilMs) return this.#kept
    this.#kept?.rows[Symbol.dispose]()
    this.#kept = undefined
    this.#kept = build(store, mirror)
    return this.#kept
  }
}

/** Throws RejectedError `not-found` for a mirror that is not in the store. */
function build(store: StoreReader | undefined, mirror: string): Kept {
  const startMs = performance.now()
  const row = store?.mirrors.findByName(mirror)
  if (!store || !row) throw new RejectedError('not-found', `Nothing of the mirror "${mirror}" was sent yet`, 404)
  const rows = createReportSnapshot()
  rows.add(
    toSnapshot(
      listRows(store, { row, listing: undefined, differences: undefined, places: [], isFirstOfLibrary: false }),
    ),
  )
  const endMs = performance.now()
  const untilMs = endMs + Math.max(LEAST_USE_MS, USES_PER_BUILD * (endMs - startMs))
  return { mirror, rows, readAt: new Date().toISOString(), untilMs }
}

function* toSnapshot(rows: Iterable<ReportRow>): Generator<SnapshotRow> {
  for (const { entry } of rows) {
    const { path, reason, size: sizeBytes, resourceId } = entry
    yield { path, class: entry.class, reason, sizeBytes, resourceId }
  }
}

function countsOf(tallies: readonly ClassTally[]): ClassCounts {
  return Object.fromEntries(tallies.map((tally) => [tally.class, tally.n]))
}
