import type { Timeline, TimelineSpan } from '../../contract/dashboard.ts'
import { HOUR_MS, MINUTE_MS } from '../../foundation/text/times.ts'
import type { StoreReader } from '../../store/open-store.ts'

/** The intervals that make up a span. */
const SPANS: Readonly<Record<TimelineSpan, { readonly intervalMs: number; readonly intervals: number }>> = {
  hour: { intervalMs: MINUTE_MS, intervals: 60 },
  day: { intervalMs: 15 * MINUTE_MS, intervals: 96 },
  month: { intervalMs: 6 * HOUR_MS, intervals: 120 },
}

/** Returns what was sent in the span that ends at `nowMs`. Intervals begin at whole multiples of their length since the epoch. */
export function readTimeline(store: StoreReader | undefined, span: TimelineSpan, nowMs: number): Timeline {
  const { intervalMs, intervals } = SPANS[span]
  const toMs = (Math.floor(nowMs / intervalMs) + 1) * intervalMs
  const fromMs = toMs - intervals * intervalMs
  const spec = { fromMs, toMs, intervalMs }
  const tallies = new Map(store?.timeline.tally(spec).map((tally) => [tally.slot, tally]))
  const medians = new Map(store?.timeline.listMedians(spec).map(({ slot, medianMs }) => [slot, medianMs]))
  const each = <T>(value: (slot: number) => T): T[] => Array.from({ length: intervals }, (_, slot) => value(slot))
  return {
    fromMs,
    intervalMs,
    sent: each((slot) => tallies.get(slot)?.sent ?? 0),
    bytes: each((slot) => tallies.get(slot)?.bytes ?? 0),
    failed: each((slot) => tallies.get(slot)?.failed ?? 0),
    searchableAfterMs: each((slot) => medians.get(slot) ?? null),
  }
}
