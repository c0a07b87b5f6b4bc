import { useEffect, useRef } from 'preact/hooks'
import uPlot from 'uplot'
import { tickLabels } from './tick-labels.ts'

interface PlotProps {
  readonly title: string
  /** The text in place of a plot without bars. */
  readonly nothing: string
  readonly tone: 'good' | 'problem' | 'accent'
  /** Beginnings of the intervals, in seconds since the epoch. */
  readonly times: readonly number[]
  readonly intervalMs: number
  readonly values: readonly (number | null)[]
  format(value: number): string
}

const HEIGHT = 150
const AXIS_WIDTH = 64
/** The width of the last label, which is under the end of the plot. */
const LABEL_WIDTH = 96
const NARROW = 480

/** A plot of one value an interval, in the colours of the page; its numbers are beside it in words. */
export function Plot({ title, nothing, tone, times, intervalMs, values, format }: PlotProps) {
  const place = useRef<HTMLDivElement>(null)
  useEffect(() => {
    const element = place.current
    if (!element) return
    let plot: uPlot | undefined
    const draw = () => {
      plot?.destroy()
      const options = optionsOf({ tone, intervalMs, format, width: element.clientWidth })
      // Nothing has no bar, not even a flat one.
      const bars = values.map((value) => (value === 0 ? null : value))
      plot = new uPlot(options, [[...times], bars], element)
    }
    // It is drawn again when the page gets another width or other colours.
    const sized = new ResizeObserver(draw)
    const colours = matchMedia('(prefers-color-scheme: dark)')
    sized.observe(element)
    colours.addEventListener('change', draw)
    return () => {
      sized.disconnect()
      colours.removeEventListener('change', draw)
      plot?.destroy()
    }
  }, [tone, times, values])
  return (
    <figure class="plot">
      <figcaption>{title}</figcaption>
      {values.some((value) => value) ? (
        <div ref={place} class="canvas" aria-hidden="true" />
      ) : (
        <p class="quiet">{nothing}</p>
      )}
    </figure>
  )
}

interface PlotStyle extends Pick<PlotProps, 'tone' | 'intervalMs' | 'format'> {
  readonly width: number
}

function optionsOf({ tone, intervalMs, format, width }: PlotStyle): uPlot.Options {
  const styles = getComputedStyle(document.documentElement)
  const [ink, line, colour] = ['--quiet', '--line', `--${tone}`].map((name) => styles.getPropertyValue(name))
  const axis = { stroke: ink ?? '', grid: { stroke: line ?? '', width: 1 }, ticks: { show: false } }
  const bars = uPlot.paths.bars?.({ size: [0.8, 24], align: 1 })
  return {
    width,
    height: HEIGHT,
    padding: [null, LABEL_WIDTH / 2, null, null],
    legend: { show: false },
    cursor: { show: false },
    scales: {
      x: { range: (_plot, min, max) => [min, max + intervalMs / 1_000] },
      y: { range: (_plot, _min, max) => [0, Math.max(1, max ?? 1)] },
    },
    axes: [
      {
        ...axis,
        space: width < NARROW ? 80 : 60,
        values: (_plot, splits, _axis, _space, stepS) => tickLabels(splits, stepS),
      },
      {
        ...axis,
        size: AXIS_WIDTH,
        values: (_plot, splits) => splits.map((value) => (Number.isInteger(value) ? format(value) : '')),
      },
    ],
    series: [{}, { fill: colour ?? '', stroke: colour ?? '', ...(bars && { paths: bars }), points: { show: false } }],
  }
}
