import { median } from '../bench/pairs.ts'
import { renderMarkdownTable } from '../bench/result-table.ts'
import { type Judgement, judgeDescriptors, judgeMemory, LAW } from './judge-flat.ts'
import type { Sample } from './sample.ts'

const MAX_ROWS = 15
const PLOT_WIDTH = 60
const BARS = '▁▂▃▄▅▆▇█'

const COLUMNS = [
  ...['until', 'resident', 'anonymous', 'heap', 'descriptors', 'watches', 'threads', 'cpu'],
  ...['changes', 'files', 'uploads', 'queued', 'settling', 'missed'],
]

/** At most 15 rows: medians of gauges, last values of counters. */
function renderSamples(samples: readonly Sample[]): string {
  const parts = splitEvenly(samples, MAX_ROWS)
  return renderMarkdownTable([COLUMNS, ...parts.map((part, at) => renderRow(part, parts[at - 1]?.at(-1) ?? part[0]))])
}

/** One line of bars that begin at 0, the highest of each stretch, so that what is flat looks flat. */
function renderPlot(values: readonly number[]): string {
  const peaks = splitEvenly(values, PLOT_WIDTH).map((part) => Math.max(...part))
  const top = Math.max(...peaks, 1)
  return peaks.map((peak) => BARS[Math.max(0, Math.ceil((peak / top) * BARS.length) - 1)]).join('')
}

/** A sign of life in a long run. */
export function renderProgress({ seconds, residentBytes, descriptors, uploads }: Sample): string {
  return `${showTime(seconds)} … ${showMegabytes(residentBytes)} resident, ${descriptors} descriptors, ${uploads} uploads`
}

function showMegabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`
}

function renderRow(part: readonly Sample[], before: Sample | undefined): string[] {
  const last = part.at(-1)
  if (!last || !before) return []
  const middle = (name: keyof Sample) => median(part.map((sample) => sample[name]))
  return [
    showTime(last.seconds),
    showMegabytes(middle('residentBytes')),
    showMegabytes(middle('anonymousBytes')),
    showMegabytes(middle('heapBytes')),
    ...[middle('descriptors'), middle('watches'), middle('threads')].map(String),
    showCpu(before, last),
    ...[last.changes, last.files, last.uploads, middle('queued'), middle('settling'), last.missed].map(String),
  ]
}

/** Of one processor, since the row before. */
function showCpu(before: Sample, last: Sample): string {
  const seconds = last.seconds - before.seconds
  return seconds > 0 ? `${(((last.cpuSeconds - before.cpuSeconds) / seconds) * 100).toFixed(1)} %` : ''
}

function showTime(seconds: number): string {
  const whole = Math.round(seconds)
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, '0')}`
}

function splitEvenly<Item>(items: readonly Item[], most: number): Item[][] {
  const count = Math.min(most, items.length)
  const start = (at: number) => Math.round((at * items.length) / count)
  return Array.from({ length: count }, (_, at) => items.slice(start(at), start(at + 1)))
}

/** Returns whether neither memory nor descriptors grow. */
export function isFlat(samples: readonly Sample[]): boolean {
  return [judgeMemory(samples), judgeDescriptors(samples)].every(({ flatness }) => flatness === 'flat')
}

/** Table, plots and verdicts of a run, whole or interrupted. */
export function renderResult(samples: readonly Sample[]): string {
  if (samples.length === 0) return 'nothing was measured'
  const memory = samples.map(({ residentBytes }) => residentBytes)
  const descriptors = samples.map((sample) => sample.descriptors)
  return [
    renderSamples(samples),
    '',
    `memory       ${renderPlot(memory)} ${renderRange(memory, showMegabytes)}`,
    `descriptors  ${renderPlot(descriptors)} ${renderRange(descriptors, String)}`,
    '',
    renderJudgement('memory', judgeMemory(samples), showMegabytes),
    renderJudgement('descriptors', judgeDescriptors(samples), String),
    LAW,
  ].join('\n')
}

function renderRange(values: readonly number[], show: (value: number) => string): string {
  return `${show(Math.min(...values))} to ${show(Math.max(...values))}`
}

function renderJudgement(what: string, { thirds, flatness }: Judgement, show: (value: number) => string): string {
  return `${what}: ${flatness} (thirds: ${thirds.map(show).join(', ')})`
}
