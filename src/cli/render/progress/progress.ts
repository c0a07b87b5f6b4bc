import type { Progress } from '../../../sync/progress.ts'
import { type CommandContext, describeService } from '../../context.ts'
import { describeProgress, type Rates } from './describe-progress.ts'
import { RecentRate } from './recent-rate.ts'

const REDRAW_MS = 100
const PLAIN_LINE_MS = 10_000
const PLAIN_COLUMNS = 160

/** Shows the progress of `work` on stderr: one redrawn line on a terminal, elsewhere a line at intervals. */
export async function withProgress<T>(context: CommandContext, progress: Progress, work: () => Promise<T>): Promise<T> {
  const { messages } = context
  if (context.quiet) return work()
  const isDrawn = context.io.isTerminal.stderr
  const rates = new RateReader(progress, describeService(context.settings))
  let announcedAtMs = 0
  const show = () => {
    const now = rates.read()
    if (isDrawn) messages.draw(describeProgress(progress, now, messages.width))
    else if (now.elapsedMs - announcedAtMs >= PLAIN_LINE_MS) {
      announcedAtMs = now.elapsedMs
      context.announce(describeProgress(progress, now, PLAIN_COLUMNS))
    }
  }
  const timer = setInterval(show, REDRAW_MS)
  try {
    return await work()
  } finally {
    clearInterval(timer)
    messages.clear()
  }
}

class RateReader {
  readonly #progress: Progress
  readonly #beginning: string
  readonly #startMs = performance.now()
  readonly #sent = new RecentRate()
  readonly #hashed = new RecentRate()

  constructor(progress: Progress, beginning: string) {
    this.#progress = progress
    this.#beginning = beginning
  }

  read(): Rates {
    const { bytesSent, bytesHashed } = this.#progress
    const nowMs = performance.now()
    this.#sent.record(bytesSent, nowMs)
    this.#hashed.record(bytesHashed, nowMs)
    return {
      beginning: this.#beginning,
      elapsedMs: nowMs - this.#startMs,
      sentPerSecond: this.#sent.perSecond(bytesSent, nowMs),
      hashedPerSecond: this.#hashed.perSecond(bytesHashed, nowMs),
    }
  }
}
