import { faultsOfFiles } from './faults-of-files.ts'
import { faultsOfTheProcess } from './faults-of-the-process.ts'
import { faultsOfTheService } from './faults-of-the-service.ts'
import { promisesOfReading } from './promises-of-reading.ts'
import { promisesOfRuns } from './promises-of-runs.ts'
import { promisesOfSending } from './promises-of-sending.ts'
import type { ShownBy } from './rows.ts'
import { security } from './security.ts'

/** A row as the command prints it. */
export interface CatalogueRow {
  readonly id: string
  readonly says: string
  readonly shownBy: ShownBy
  readonly open: string | undefined
}

export const CATALOGUE: readonly { readonly title: string; readonly rows: readonly CatalogueRow[] }[] = [
  {
    title: 'Promises',
    rows: [...promisesOfSending, ...promisesOfReading, ...promisesOfRuns].map((row) =>
      rowOf(row, `At every moment, ${row.holds}`),
    ),
  },
  {
    title: 'Faults',
    rows: [...faultsOfFiles, ...faultsOfTheService, ...faultsOfTheProcess].map((row) =>
      rowOf(row, `${row.happens} → ${row.answer}`),
    ),
  },
  { title: 'Security', rows: security.map((row) => rowOf(row, row.holds)) },
]

function rowOf({ id, shownBy, open }: { id: string; shownBy: ShownBy; open?: string }, says: string): CatalogueRow {
  return { id, says, shownBy, open }
}
