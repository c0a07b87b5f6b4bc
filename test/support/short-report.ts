import type { MirrorReport } from '../../src/sync/report/report.ts'

/** Compares the rows of a report with the form that omits plain files; returns what is wrong with that, or undefined. */
export function findFaultOfShortForm({ rows, differingRows }: Pick<MirrorReport, 'rows' | 'differingRows'>) {
  const differing: string[] = []
  let plainFiles = 0
  for (const row of differingRows) {
    if ('plainFiles' in row) plainFiles += row.plainFiles
    else differing.push(JSON.stringify(row))
  }
  let next = 0
  let omitted = 0
  for (const row of rows) {
    const text = JSON.stringify(row)
    if (text === differing[next]) next += 1
    else if (row.state === 'in-sync') omitted += 1
    else return `it lacks ${text}, or has it elsewhere`
  }
  if (next < differing.length) return `the whole form lacks ${differing[next]}, or has it elsewhere`
  return omitted === plainFiles ? undefined : `it counts ${plainFiles} plain files where ${omitted} are omitted`
}
