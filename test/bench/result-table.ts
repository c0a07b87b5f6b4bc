import { renderMarkdownTable } from './markdown-table.ts'

/** One line of the result; the cells are texts for people. */
export interface ResultRow {
  readonly work: string
  readonly ours: string
  readonly peer: string
  readonly theirs: string
  readonly ratio: string
  readonly cpu: string
  readonly target: string
  readonly verdict: 'met' | 'not met' | ''
}

const COLUMNS = ['work', 'ours', 'peer', 'theirs', 'ratio', 'cpu', 'target', 'verdict'] as const

/** The rows as a Markdown table. */
export function renderResults(rows: readonly ResultRow[]): string {
  return renderMarkdownTable([COLUMNS, ...rows.map((row) => COLUMNS.map((column) => row[column]))])
}

const NOTHING: ResultRow = { work: '', ours: '', peer: '', theirs: '', ratio: '', cpu: '', target: '', verdict: '' }

export function resultRow(cells: Partial<ResultRow> & { readonly work: string }): ResultRow {
  return { ...NOTHING, ...cells }
}

export function missingPeer(work: string, peer: string): ResultRow {
  return resultRow({ work, peer, theirs: 'not installed' })
}

export function verdict(isMet: boolean): 'met' | 'not met' {
  return isMet ? 'met' : 'not met'
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
