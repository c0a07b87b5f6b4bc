import { useEffect, useState } from 'preact/hooks'
import type { Timeline, TimelineSpan } from '../../../contract/dashboard.ts'
import { formatSize } from '../../../foundation/text/units.ts'
import { addressOf, type ViewProps } from '../../common/address.ts'
import { counted, formatTime } from '../../common/format.ts'
import { useLoaded, ViewHeading, WhenLoaded } from '../../common/view.tsx'
import { Tab } from '../report/report-view.tsx'
import { useSession } from '../session.ts'
import { Plot } from './plot.tsx'

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

/** Shows the intervals in which something happened in words, for users who cannot read the plots. */
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

/** `1.5 min`, `340 ms`, `at once`; empty for nothing. */
function formatSpan(spanMs: number | null): string {
  if (spanMs === null) return ''
  if (spanMs === 0) return 'at once'
  const [unit, lengthMs] = UNITS.find(([, length]) => spanMs >= length) ?? (['millisecond', 1] as const)
  const digits = { maximumFractionDigits: unit === 'millisecond' ? 0 : 1 }
  return new Intl.NumberFormat('en', { style: 'unit', unit, unitDisplay: 'short', ...digits }).format(spanMs / lengthMs)
}

const MINUTE_MS = 60_000

/** Counts the minutes since the view was opened, so that it follows the time. */
function useEveryMinute(): number {
  const [minutes, setMinutes] = useState(0)
  useEffect(() => {
    const timer = setInterval(() => setMinutes((count) => count + 1), MINUTE_MS)
    return () => clearInterval(timer)
  }, [])
  return minutes
}
