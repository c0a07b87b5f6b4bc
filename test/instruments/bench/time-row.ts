import type { Compared } from './pairs.ts'
import { comparisonCells, type ResultRow, resultRow, showSeconds, verdictOnRatios } from './result-table.ts'

/** A comparison of times; `most` is the largest ratio allowed, undefined when there is no target. */
export function timeRow(work: string, peer: string, compared: Compared, most: number | undefined): ResultRow {
  return resultRow({
    work,
    ours: showSeconds(compared.oursSeconds),
    peer,
    theirs: showSeconds(compared.theirsSeconds),
    ...comparisonCells(compared),
    target: most === undefined ? '' : `≤ ${most} ×`,
    verdict: most === undefined ? '' : verdictOnRatios(compared.timeRatios, (ratio) => ratio <= most),
  })
}
