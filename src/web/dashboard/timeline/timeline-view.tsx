import type { Timeline, TimelineSpan } from '../../../contract/dashboard/shapes.ts'
import { formatSize } from '../../../foundation/text/units.ts'
import { counted, formatTime } from '../../common/format.ts'
import { Failure, Loading } from '../../common/ui/notice.tsx'
import { ViewHeading } from '../../common/ui/view-heading.tsx'
import { useLoaded } from '../../common/use-loaded.ts'
import { useSession } from '../api/session.ts'
import { Tab } from '../report/report-view.tsx'
import { addressOf } from '../routes.ts'
import type { ViewProps } from '../view-props.ts'
import { formatSpan } from './format-span.ts'
import { Plot } from './plot.tsx'
import { useEveryMinute } from './use-every-minute.ts'

const SPANS: Readonly<Record<TimelineSpan, string>> = { hour: 'Last hour', day: 'Last day', month: 'Last month' }

/** What was sent when, how soon it could be searched, and what failed. */
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
          {Object.entries(SPANS).map(([each, words]) => (
            <Tab key={each} isCurrent={each === span} address={addressOf('timeline', { span: each })}>
              {words}
            </Tab>
          ))}
        </nav>
      </div>
      {found.error !== undefined && <Failure error={found.error} onRetry={found.retry} />}
      {!found.value && found.error === undefined && <Loading what="the timeline" />}
      {found.value && <Plots timeline={found.value} />}
    </section>
  )
}

function Plots({ timeline }: { readonly timeline: Timeline }) {
  const { fromMs, intervalMs, sent, bytes, failed, searchableAfterMs } = timeline
  const times = sent.map((_, slot) => (fromMs + slot * intervalMs) / 1_000)
  const total = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0)
  const waits = searchableAfterMs.filter((value) => value !== null)
  const plots = { times, intervalMs }
  return (
    <>
      <p class="count" role="status">
        {counted(total(sent), 'upload')} of {formatSize(total(bytes))}, {counted(total(failed), 'failure')}
      </p>
      <Plot {...plots} title="Uploads" tone="good" values={sent} format={String} />
      <Plot {...plots} title="Failures" tone="problem" values={failed} format={String} />
      <Plot
        {...plots}
        title={
          waits.length === 0
            ? 'Time until searchable'
            : `Time until searchable, at most ${formatSpan(Math.max(...waits))}`
        }
        tone="accent"
        values={searchableAfterMs}
        format={formatSpan}
      />
      <Numbers timeline={timeline} />
    </>
  )
}

/** The same in words, for those who read no plots. Only intervals in which something happened. */
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
