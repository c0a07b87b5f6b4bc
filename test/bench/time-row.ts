import type { Compared } from './pairs.ts'
import { type ResultRow, resultRow, showRatio, showSeconds, verdict } from './result-table.ts'

/** A comparison of times; `most` is the largest ratio allowed, undefined when there is no target. */
export function timeRow(work: string, peer: string, compared: Compared, most: number | undefined): ResultRow {
  return resultRow({
    work,
    ours: showSeconds(compared.oursSeconds),
    peer,
    theirs: showSeconds(compared.theirsSeconds),
    ratio: showRatio(compared.timeRatio),
    cpu: showRatio(compared.cpuRatio),
    target: most === undefined ? '' : `≤ ${most} ×`,
    verdict: most === undefined ? '' : verdict(compared.timeRatio <= most),
  })
}
