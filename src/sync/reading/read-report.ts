import type { ClassCounts, RowsInput, RowsPage, TreePage } from '../../contract/dashboard.ts'
import { ROWS_A_PAGE } from '../../contract/dashboard-addresses.ts'
import { RequestError } from '../../foundation/errors.ts'
import type { StoreReader } from '../../store/open-store.ts'
import {
  type ClassTally,
  createReportSnapshot,
  type ReportSnapshot,
  type SnapshotRow,
} from '../../store/report-snapshot.ts'
import type { ReportRow } from '../report/report-entry.ts'
import { listRows } from '../report/report-rows.ts'
import { KeptReading } from './kept-reading.ts'

const MAX_DIRECTORIES = 500
const MAX_FILES = 100

interface ReadRows {
  readonly rows: ReportSnapshot
  readonly readAt: string
}

/** Answers pages of the report, by what the state holds. It keeps the rows of one mirror. */
export class ReportReader {
  readonly #kept = new KeptReading<ReadRows>({ onDropped: ({ rows }) => rows[Symbol.dispose]() })

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
    return this.#kept.get(mirror, () => readRows(store, mirror))
  }
}

/** Throws RequestError `not-found` for a mirror that is not in the store. */
function readRows(store: StoreReader | undefined, mirror: string): ReadRows {
  const row = store?.mirrors.findByName(mirror)
  if (!store || !row) throw new RequestError('not-found', `Nothing of the mirror "${mirror}" was sent yet`, 404)
  const rows = createReportSnapshot()
  const sides = { listing: undefined, asked: new Map(), differences: undefined, places: [], isFirstOfLibrary: false }
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
