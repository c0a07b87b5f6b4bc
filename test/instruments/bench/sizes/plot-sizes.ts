import { showSeconds } from '../result-table.ts'
import { drawPlot, type Panel, type Point, type Series } from './draw-plot.ts'
import type { PeerMeasure, SizeMeasure } from './measure-size.ts'

const WORKS: readonly PeerMeasure['work'][] = ['first pass', 'unchanged pass']

/** Plots the time of a pass by the number of files, of shelfd and its peers, as an SVG document. */
export function plotSizes(measured: readonly SizeMeasure[]): string {
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
