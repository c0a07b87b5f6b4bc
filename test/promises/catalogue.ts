import { findTests, type ShownBy } from './collect-tests.ts'
import { faultsOfFiles } from './faults-of-files.ts'
import { faultsOfTheProcess } from './faults-of-the-process.ts'
import { faultsOfTheService } from './faults-of-the-service.ts'
import { promises } from './promises.ts'
import { security } from './security.ts'

/** A row as the command prints it. */
export interface CatalogueRow {
  readonly id: string
  readonly says: string
  readonly shownBy: ShownBy
  readonly open: string | undefined
}

const tests = findTests()

export const CATALOGUE: readonly { readonly title: string; readonly rows: readonly CatalogueRow[] }[] = [
  { title: 'Promises', rows: promises.map((row) => rowOf(row, `At every moment, ${row.holds}`)) },
  {
    title: 'Faults',
    rows: [...faultsOfFiles, ...faultsOfTheService, ...faultsOfTheProcess].map((row) =>
      rowOf(row, `${row.happens} → ${row.answer}`),
    ),
  },
  { title: 'Security', rows: security.map((row) => rowOf(row, row.holds)) },
]

function rowOf({ id, open }: { id: string; open?: string }, says: string): CatalogueRow {
  return { id, says, shownBy: tests.get(id) ?? {}, open }
}
