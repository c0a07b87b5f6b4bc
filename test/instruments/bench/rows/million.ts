import { print } from '../../instrument.ts'
import type { Bench } from '../bench.ts'
import { drawPlot, type Panel, type Point, type Series } from '../draw-plot.ts'
import { measureSize, type PeerMeasure, type SizeMeasure, type WorkMeasure } from '../measure-size.ts'
import { type ResultRow, resultRow, showMegabytes, showRatio, showSeconds, verdict } from '../result-table.ts'

const SIZES = [1_000, 10_000, 100_000, 1_000_000]
const QUICK_SIZES = [50, 200, 1_000]
const MAX_RUNS = 3
/** Of ten times the files at most so much more than ten times the time. */
const MAX_GROWTH = 1.15
const MAX_BYTES = 220e6
/** What people wait for at their keyboards. */
const PROMPT: readonly string[] = ['status', 'why']
const MAX_PROMPT_SECONDS = 0.3

const PICTURE =
  'Time of a first and of an unchanged pass by number of files, of shelfd and its peers, on logarithmic axes'

/** Trees of up to a million made-up files: memory stays bounded, and time grows no faster than their number. */
export async function million(bench: Bench): Promise<ResultRow[]> {
  const runs = Math.min(bench.options.runs, MAX_RUNS)
  const measured: SizeMeasure[] = []
  for (const files of bench.options.quick ? QUICK_SIZES : SIZES) {
    print(`${count(files)} files …`)
    measured.push(await measureSize(bench, files, runs))
  }
  bench.savePicture('cost-by-files.svg', PICTURE, plotSizes(measured))
  const [smaller, largest] = measured.slice(-2)
  if (!smaller || !largest) throw new Error('Two sizes are needed')
  return largest.works.flatMap((work) => {
    const before = smaller.works.find((each) => each.work === work.work)
    return before ? [timeOf(work, before, largest, smaller), peakOf(work, before, largest, smaller)] : []
  })
}

type Compare = (work: WorkMeasure, before: WorkMeasure, largest: SizeMeasure, smaller: SizeMeasure) => ResultRow

const timeOf: Compare = (work, before, { files }, smaller) => {
  const growth = (ours: number, theirs: number) => ours / files / (theirs / smaller.files)
  const ratio = growth(work.seconds, before.seconds)
  const isPrompt = PROMPT.includes(work.work)
  return resultRow({
    work: `${work.work}, ${count(files)} files`,
    ours: showSeconds(work.seconds),
    peer: `${count(smaller.files)} files`,
    theirs: showSeconds(before.seconds),
    ratio: `${showRatio(ratio)} a file`,
    cpu: work.cpuSeconds && before.cpuSeconds ? showRatio(growth(work.cpuSeconds, before.cpuSeconds)) : '',
    target: isPrompt ? `≤ ${MAX_PROMPT_SECONDS} s` : `≤ ${MAX_GROWTH} × a file`,
    verdict: verdict(isPrompt ? work.seconds <= MAX_PROMPT_SECONDS : ratio <= MAX_GROWTH),
  })
}

const peakOf: Compare = (work, before, { files }, smaller) =>
  resultRow({
    work: `${work.work}, ${count(files)} files: peak memory`,
    ours: showMegabytes(work.peakBytes),
    peer: `${count(smaller.files)} files`,
    theirs: showMegabytes(before.peakBytes),
    target: `≤ ${showMegabytes(MAX_BYTES)}`,
    verdict: verdict(Math.max(work.peakBytes, before.peakBytes) <= MAX_BYTES),
  })

function count(files: number): string {
  return files.toLocaleString('en')
}

const WORKS: readonly PeerMeasure['work'][] = ['first pass', 'unchanged pass']

/** Plots the time of a pass by the number of files, of shelfd and its peers, as an SVG document. */
function plotSizes(measured: readonly SizeMeasure[]): string {
  const panels = WORKS.map((work) => panelOf(work, measured))
  const described = panels.map(({ title, series }) => `${title}: ${series.map(describeSeries).join(', ')}.`)
  const largest = measured.at(-1)?.files.toLocaleString('en') ?? 'no'
  return drawPlot({
    title: 'Time of a pass by number of files',
    description: `Both axes are logarithmic. With ${largest} files, ${described.join(' ')}`,
    panels,
  })
}

function panelOf(work: PeerMeasure['work'], measured: readonly SizeMeasure[]): Panel {
  const ours = measured.flatMap(({ files, works }) => works.filter((each) => each.work === work).map(pointAt(files)))
  const ofWork = measured.flatMap(({ files, peers }) =>
    peers.filter((peer) => peer.work === work).map((peer) => ({ peer: peer.peer, point: pointAt(files)(peer) })),
  )
  const theirs = Map.groupBy(ofWork, ({ peer }) => peer)
  const peers = [...theirs].map(([name, found]) => ({ name, points: found.map(({ point }) => point) }))
  return { title: work, series: [{ name: 'shelfd', points: ours }, ...peers] }
}

function pointAt(files: number): (measure: { readonly seconds: number }) => Point {
  return ({ seconds }) => ({ x: files, y: seconds })
}

function describeSeries({ name, points }: Series): string {
  return `${name} ${showSeconds(points.at(-1)?.y ?? Number.NaN)}`
}
