import { InterruptedError, RequestError } from '../../foundation/errors.ts'
import { errorOf, type Fault, faultOf } from '../../foundation/http/fault.ts'
import type { LineWriter, StreamedResponse } from '../../foundation/http/route.ts'
import { createProgress, type Progress } from '../../sync/progress.ts'
import type { RunResult } from '../../sync/run/run-sync.ts'
import type { SentFile } from '../../sync/sinks.ts'
import type { SyncLine, SyncRun } from './protocol.ts'

const PROGRESS_INTERVAL_MS = 200
const MAX_UNREAD_BYTES = 16 * 2 ** 20

export class Syncs {
  readonly #running = new Map<string, AbortController>()
  #begun = 0

  /** Streams the lines of `sync`. `signal`, `stop` and `stopAll` abort it; an aborted sync still writes its result. */
  begin(sync: (run: SyncRun) => Promise<RunResult>, signal: AbortSignal): StreamedResponse {
    return {
      stream: async (lines) => {
        this.#begun += 1
        const id = String(this.#begun)
        const stop = new AbortController()
        this.#running.set(id, stop)
        const write = (line: SyncLine) => lines.write(line)
        write({ kind: 'started', sync: id })
        write(await follow(sync, AbortSignal.any([signal, stop.signal]), lines))
        this.#running.delete(id)
      },
    }
  }

  /** Throws RequestError `not-found` when no such sync is running. */
  stop(id: string, reason: Fault | undefined): void {
    const running = this.#running.get(id)
    if (!running) throw new RequestError('not-found', `No sync "${id}" is running`, 404)
    running.abort(reason ? errorOf(reason) : new InterruptedError('The client asked to stop'))
  }

  stopAll(reason: Error): void {
    for (const running of this.#running.values()) running.abort(reason)
  }
}

/** Runs the sync and writes its progress; returns the last line. */
async function follow(
  sync: (run: SyncRun) => Promise<RunResult>,
  signal: AbortSignal,
  lines: LineWriter,
): Promise<SyncLine> {
  const progress = createProgress()
  const timer = writeProgress(progress, lines)
  // Files are not reported while the client does not read, so that memory stays bounded.
  const sent = (file: SentFile) => {
    if (lines.unreadBytes < MAX_UNREAD_BYTES) lines.write({ kind: 'sent', file } satisfies SyncLine)
  }
  try {
    const { summary, outcome, failure } = await sync({ signal, progress, fileLog: { wouldSend() {}, sent } })
    return { kind: 'result', result: { summary, outcome, failure: failure ? faultOf(failure) : null } }
  } catch (error) {
    return { kind: 'error', error: faultOf(error) }
  } finally {
    clearInterval(timer)
  }
}

/** Writes the progress at intervals, if it has changed and the client has read all previous lines. */
function writeProgress(progress: Progress, lines: LineWriter): NodeJS.Timeout {
  let last = JSON.stringify(progress)
  return setInterval(() => {
    const now = JSON.stringify(progress)
    if (now === last || lines.unreadBytes > 0) return
    last = now
    lines.write({ kind: 'progress', progress } satisfies SyncLine)
  }, PROGRESS_INTERVAL_MS)
}
