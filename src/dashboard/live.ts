import { setTimeout as sleep } from 'node:timers/promises'
import type { LiveEvent, Overview } from '../contract/dashboard.ts'
import { untilAborted } from '../foundation/concurrency/waits.ts'
import { messageOf } from '../foundation/errors.ts'
import type { LineWriter } from '../foundation/http/route.ts'
import { counted } from '../foundation/text/safe-text.ts'
import { isoTime } from '../foundation/text/times.ts'
import { describeStatus } from '../sync/continuous/controller-status.ts'
import { describeLedgerFailure } from '../sync/fleet/ledger-monitor.ts'
import type { OutageTracker } from './outage-tracker.ts'
import type { DashboardSources } from './sources.ts'
import type { DashboardSyncs } from './syncs.ts'

/** The state is read again after a second, or after ten times the duration of the last reading if that is longer. */
const MIN_DELAY_MS = 1_000
const DELAY_PER_READING = 10

interface LiveParts {
  readonly sources: DashboardSources
  readonly syncs: DashboardSyncs
  readonly outages: OutageTracker
}

/** Reads the present state of the daemon and of all mirrors. */
export async function readLive({ sources, syncs, outages }: LiveParts): Promise<LiveEvent> {
  const daemon = await sources.daemonStatus()
  const nowMs = Date.now()
  const mirrors = await sources.reader.read('overview', { daemon, listed: sources.listMirrors(), nowMs })
  const overview: Overview = {
    version: sources.version,
    service: sources.serviceName,
    daemon: daemon && {
      startedAt: isoTime(daemon.startedAt),
      summary: describeStatus(daemon) || counted(0, 'mirror'),
    },
    troubles: [
      outages.describe(nowMs) ?? daemon?.service.reason?.message,
      describeLedgerFailure(daemon?.ledger ?? null, nowMs),
    ].filter((text) => typeof text === 'string'),
    isInFleet: sources.openFleet !== undefined,
    mirrors: mirrors.map((mirror) => ({
      ...mirror,
      isSyncing: syncs.isRunning(mirror.name),
      syncWaitsFor: syncs.waitsFor(mirror.name),
      syncFailure: syncs.failureOf(mirror.name),
    })),
  }
  return { kind: 'overview', overview, logNumber: sources.log?.last ?? null }
}

interface Reader {
  readonly lines: LineWriter
  /** The last event that this reader got, as JSON; '' before the first one. */
  sent: string
}

/** Reads the state once for all streams, and sends each stream the events that differ from the last one that it got. */
export class LiveStream {
  readonly #read: () => Promise<LiveEvent>
  readonly #readers = new Set<Reader>()
  #isReading = false
  #wakeUp = Promise.withResolvers<void>()

  constructor(read: () => Promise<LiveEvent>) {
    this.#read = read
  }

  /** Writes events until `signal` is aborted; a client that does not read gets the newest event when it reads again. */
  async stream(lines: LineWriter, signal: AbortSignal): Promise<void> {
    const reader = { lines, sent: '' }
    this.#readers.add(reader)
    this.refresh()
    void this.#readOn()
    await untilAborted(signal)
    this.#readers.delete(reader)
  }

  /** Reads the state again at once: for a new stream, or after a change on the dashboard. */
  refresh(): void {
    this.#wakeUp.resolve()
  }

  async #readOn(): Promise<void> {
    if (this.#isReading) return
    this.#isReading = true
    while (this.#readers.size > 0) {
      this.#wakeUp = Promise.withResolvers()
      const startMs = performance.now()
      this.#send(await this.#readSafely())
      const delayMs = Math.max(MIN_DELAY_MS, DELAY_PER_READING * (performance.now() - startMs))
      await Promise.race([sleep(delayMs, undefined, { ref: false }), this.#wakeUp.promise])
    }
    this.#isReading = false
  }

  async #readSafely(): Promise<LiveEvent> {
    try {
      return await this.#read()
    } catch (error) {
      return { kind: 'failure', message: messageOf(error) }
    }
  }

  #send(event: LiveEvent): void {
    const text = JSON.stringify(event)
    for (const reader of this.#readers) {
      if (reader.sent === text || reader.lines.unreadBytes > 0) continue
      reader.sent = text
      reader.lines.write(event)
    }
  }
}
