import type { Compared, Range } from './pairs.ts'

type Verdict = 'met' | 'not met' | 'too noisy'

/** One line of the result; the cells are texts for people. */
export interface ResultRow {
  readonly work: string
  readonly ours: string
  readonly peer: string
  readonly theirs: string
  readonly ratio: string
  readonly cpu: string
  /** Of the peer. */
  readonly noise: string
  readonly target: string
  readonly verdict: Verdict | ''
}

const COLUMNS = ['work', 'ours', 'peer', 'theirs', 'ratio', 'cpu', 'noise', 'target', 'verdict'] as const

/** The rows as a Markdown table. */
export function renderResults(rows: readonly ResultRow[]): string {
  return renderMarkdownTable([COLUMNS, ...rows.map((row) => COLUMNS.map((column) => row[column]))])
}

const NOTHING: ResultRow = {
  work: '',
  ours: '',
  peer: '',
  theirs: '',
  ratio: '',
  cpu: '',
  noise: '',
  target: '',
  verdict: '',
}

export function resultRow(cells: Partial<ResultRow> & { readonly work: string }): ResultRow {
  return { ...NOTHING, ...cells }
}

export function missingPeer(work: string, peer: string): ResultRow {
  return resultRow({ work, peer, theirs: 'not installed' })
}

export function verdict(isMet: boolean): Verdict {
  return isMet ? 'met' : 'not met'
}

/** The verdict on a ratio that was measured several times: too noisy if the middle half of them is not of one mind. */
export function verdictOnRatios({ low, high }: Range, isMet: (ratio: number) => boolean): Verdict {
  return isMet(low) === isMet(high) ? verdict(isMet(low)) : 'too noisy'
}

/** The cells that every comparison fills alike. */
export function comparisonCells({ timeRatio, cpuRatio, noise }: Compared): Pick<ResultRow, 'ratio' | 'cpu' | 'noise'> {
  return { ratio: showRatio(timeRatio), cpu: showRatio(cpuRatio), noise: `${Math.round(noise * 100)} %` }
}

export function showSeconds(seconds: number): string {
  return `${seconds < 10 ? seconds.toFixed(2) : seconds.toFixed(1)} s`
}

export function showMegabytes(bytes: number): string {
  return `${Math.round(bytes / 1e6)} MB`
}

export function showRatio(ratio: number | undefined): string {
  return ratio === undefined ? '' : `${ratio.toFixed(2)} ×`
}

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

/** A Markdown table, aligned so that it can be read as it is; the first line is its head. */
export function renderMarkdownTable(lines: readonly (readonly string[])[]): string {
  const [head = [], ...rows] = lines
  const widths = head.map((_, at) => Math.max(...lines.map((line) => line[at]?.length ?? 0)))
  const render = (line: readonly string[]) => `| ${line.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join(' | ')} |`
  const rule = `|${widths.map((width) => '-'.repeat(width + 2)).join('|')}|`
  return [render(head), rule, ...rows.map(render)].join('\n')
}
