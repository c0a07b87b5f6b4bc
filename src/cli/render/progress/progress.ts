import type { Progress } from '../../../sync/progress.ts'
import type { CommandContext } from '../../context.ts'
import { describeProgress, type Pace } from './describe-progress.ts'
import { RecentRate } from './recent-rate.ts'

const REDRAW_MS = 100
const PLAIN_LINE_MS = 10_000
const PLAIN_COLUMNS = 160

/** Shows the progress of `work` on stderr: one redrawn line on a terminal, elsewhere a line at intervals. */
export async function withProgress<T>(context: CommandContext, progress: Progress, work: () => Promise<T>): Promise<T> {
  const { messages } = context
  if (context.quiet) return work()
  const isDrawn = context.io.isTerminal.stderr
  const pace = new PaceMeter(progress)
  let toldAtMs = 0
  const look = () => {
    const now = pace.read()
    if (isDrawn) messages.draw(describeProgress(progress, now, messages.width))
    else if (now.elapsedMs - toldAtMs >= PLAIN_LINE_MS) {
      toldAtMs = now.elapsedMs
      context.tell(describeProgress(progress, now, PLAIN_COLUMNS))
    }
  }
  const timer = setInterval(look, REDRAW_MS)
  try {
    return await work()
  } finally {
    clearInterval(timer)
    messages.clear()
  }
}

class PaceMeter {
  readonly #progress: Progress
  readonly #startMs = performance.now()
  readonly #sent = new RecentRate()
  readonly #hashed = new RecentRate()

  constructor(progress: Progress) {
    this.#progress = progress
  }

  read(): Pace {
    const { bytesSent, bytesHashed } = this.#progress
    const nowMs = performance.now()
    this.#sent.note(bytesSent, nowMs)
    this.#hashed.note(bytesHashed, nowMs)
    return {
      elapsedMs: nowMs - this.#startMs,
      sentPerSecond: this.#sent.perSecond(bytesSent, nowMs),
      hashedPerSecond: this.#hashed.perSecond(bytesHashed, nowMs),
    }
  }
}
