import { useEffect, useRef, useState } from 'preact/hooks'
import uPlot from 'uplot'
import type { Timeline, TimelineSpan } from '../../../contract/dashboard.ts'
import { formatSize } from '../../../foundation/text/units.ts'
import { addressOf, type ViewProps } from '../../common/address.ts'
import { counted, formatTime } from '../../common/format.ts'
import { useLoaded, ViewHeading, WhenLoaded } from '../../common/view.tsx'
import { Tab } from '../report/report-view.tsx'
import { useSession } from '../session.ts'
import { tickLabels } from './tick-labels.ts'

const SPANS: Readonly<Record<TimelineSpan, string>> = { hour: 'Last hour', day: 'Last day', month: 'Last month' }

export function TimelineView({ query, takesFocus }: ViewProps) {
  const { client, live } = useSession()
  const span = (['hour', 'day', 'month'] as const).find((each) => each === query.span) ?? 'day'
  const minute = useEveryMinute()
  const counts = live.overview?.mirrors.map(({ files }) => files)
  const found = useLoaded(JSON.stringify([span, minute, counts]), (signal) => client.call('timeline', { span }, signal))
  return (
    <section>
      <div class="head">
        <ViewHeading title="Timeline" takesFocus={takesFocus} />
        <nav class="tabs" aria-label="Span">
          {Object.entries(SPANS).map(([each, label]) => (
            <Tab key={each} isCurrent={each === span} address={addressOf('timeline', { span: each })}>
              {label}
            </Tab>
          ))}
        </nav>
      </div>
      <WhenLoaded what="the timeline" found={found}>
        {(timeline) => <Plots timeline={timeline} />}
      </WhenLoaded>
    </section>
  )
}

function Plots({ timeline }: { readonly timeline: Timeline }) {
  const { fromMs, intervalMs, sent, bytes, failed, searchableAfterMs } = timeline
  const times = sent.map((_, slot) => (fromMs + slot * intervalMs) / 1_000)
  const total = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0)
  const waits = searchableAfterMs.filter((value) => value !== null)
  const longestMs = Math.max(0, ...waits)
  const plots = { times, intervalMs }
  return (
    <>
      <p class="count" role="status">
        {counted(total(sent), 'upload')} of {formatSize(total(bytes))}, {counted(total(failed), 'failure')}
      </p>
      <Plot {...plots} title="Uploads" nothing="None." tone="good" values={sent} format={String} />
      <Plot {...plots} title="Failures" nothing="None." tone="problem" values={failed} format={String} />
      <Plot
        {...plots}
        title={
          longestMs > 0
            ? `Median time until searchable: at most ${formatSpan(longestMs)}`
            : 'Median time until searchable'
        }
        nothing={waits.length > 0 ? 'Most at once.' : 'Nothing that was sent can be searched yet.'}
        tone="accent"
        values={searchableAfterMs}
        format={formatSpan}
      />
      <Numbers timeline={timeline} />
    </>
  )
}

interface PlotProps {
  readonly title: string
  /** The text that stands in place of a plot without bars. */
  readonly nothing: string
  readonly tone: 'good' | 'problem' | 'accent'
  /** When each interval begins, in seconds since the epoch. */
  readonly times: readonly number[]
  readonly intervalMs: number
  readonly values: readonly (number | null)[]
  format(value: number): string
}

const HEIGHT = 150
const AXIS_WIDTH = 64
/** The width of a label; half of the last one lies beyond the right end of the plot. */
const LABEL_WIDTH = 96
const NARROW_WIDTH = 480

/** Draws a bar for each interval. Screen readers leave it out, because `Numbers` has the values as text. */
function Plot({ title, nothing, tone, times, intervalMs, values, format }: PlotProps) {
  const container = useRef<HTMLDivElement>(null)
  useEffect(() => {
    const element = container.current
    if (!element) return
    let plot: uPlot | undefined
    const draw = () => {
      plot?.destroy()
      const options = optionsOf({ tone, intervalMs, format, width: element.clientWidth })
      // uPlot draws a flat bar for a value of 0, but none for null.
      const bars = values.map((value) => (value === 0 ? null : value))
      plot = new uPlot(options, [[...times], bars], element)
    }
    // The plot is drawn again when the width or the colours of the page change.
    const sizeObserver = new ResizeObserver(draw)
    const colours = matchMedia('(prefers-color-scheme: dark)')
    sizeObserver.observe(element)
    colours.addEventListener('change', draw)
    return () => {
      sizeObserver.disconnect()
      colours.removeEventListener('change', draw)
      plot?.destroy()
    }
  }, [tone, times, values])
  return (
    <figure class="plot">
      <figcaption>{title}</figcaption>
      {values.some((value) => value) ? (
        <div ref={container} class="canvas" aria-hidden="true" />
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
        space: width < NARROW_WIDTH ? 80 : 60,
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

/** Shows a table of the intervals in which something happened, for users who cannot see the plots. */
function Numbers({
  timeline: { fromMs, intervalMs, sent, bytes, failed, searchableAfterMs },
}: {
  readonly timeline: Timeline
}) {
  const slots = sent.map((_, slot) => slot).filter((slot) => (sent[slot] ?? 0) + (failed[slot] ?? 0) > 0)
  return (
    <details>
      <summary>Numbers</summary>
      <table class="numbers">
        <thead>
          <tr>
            {['From', 'Uploads', 'Size', 'Failures', 'Searchable after'].map((heading) => (
              <th key={heading} scope="col">
                {heading}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {slots.toReversed().map((slot) => (
            <tr key={slot}>
              <td>{formatTime(new Date(fromMs + slot * intervalMs).toISOString())}</td>
              <td>{sent[slot]}</td>
              <td>{formatSize(bytes[slot] ?? 0)}</td>
              <td>{failed[slot]}</td>
              <td>{formatSpan(searchableAfterMs[slot] ?? null)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </details>
  )
}

const UNITS = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
  ['second', 1_000],
] as const

/** Returns `1.5 min`, `340 ms` or `at once`, or an empty text for null. */
function formatSpan(spanMs: number | null): string {
  if (spanMs === null) return ''
  if (spanMs === 0) return 'at once'
  const [unit, lengthMs] = UNITS.find(([, length]) => spanMs >= length) ?? (['millisecond', 1] as const)
  const digits = { maximumFractionDigits: unit === 'millisecond' ? 0 : 1 }
  return new Intl.NumberFormat('en', { style: 'unit', unit, unitDisplay: 'short', ...digits }).format(spanMs / lengthMs)
}

const MINUTE_MS = 60_000

/** Returns the number of minutes since the view was opened; the view is rendered again after each. */
function useEveryMinute(): number {
  const [minutes, setMinutes] = useState(0)
  useEffect(() => {
    const timer = setInterval(() => setMinutes((count) => count + 1), MINUTE_MS)
    return () => clearInterval(timer)
  }, [])
  return minutes
}
