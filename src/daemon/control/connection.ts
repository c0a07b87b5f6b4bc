import type { Socket } from 'node:net'
import { InterruptedError, messageOf, RejectedError } from '../../foundation/errors.ts'
import type { Logger } from '../../foundation/logger.ts'
import type { FileLog, SentFile } from '../../sync/file-log.ts'
import { createProgress } from '../../sync/progress.ts'
import { answerRequest } from './answer-request.ts'
import { errorOf, faultOf } from './faults.ts'
import type { ControlHandlers } from './handlers.ts'
import { parseLine, readLines, sendLine } from './lines.ts'
import { type AnswerLine, MAX_REQUEST_BYTES, stopLine } from './protocol.ts'

const PROGRESS_PAUSE_MS = 200
const MOST_UNREAD_BYTES = 16 * 2 ** 20

/** What a connection answers with. */
export interface Answering {
  /** What the daemon works with: the origin of its service, or the data directory of its embedded library. */
  readonly service: string
  readonly handlers: ControlHandlers
  readonly logger: Logger
}

/** One client: one request, its progress, its answer. */
export class ControlConnection {
  readonly #socket: Socket
  readonly #answering: Answering
  readonly #abort = new AbortController()
  readonly #progress = createProgress()
  readonly #closed: Promise<unknown>
  readonly #onRequest: () => void
  #answered: Promise<void> | undefined

  /** `onRequest` is called when the client has asked. */
  constructor(socket: Socket, answering: Answering, onRequest: () => void) {
    this.#socket = socket
    this.#onRequest = onRequest
    this.#closed = new Promise((resolve) => socket.once('close', resolve))
    this.#answering = answering
    // Reading tells of every error as well; one after the last line must not end the process.
    socket.on('error', () => {})
  }

  /** Resolves when nothing is done for this client any more. */
  get answered(): Promise<void> {
    return this.#answered ?? Promise.resolve()
  }

  /** Serves until the connection is closed; whatever it does wrong is its own trouble. */
  async serve(): Promise<void> {
    try {
      for await (const line of readLines(this.#socket, MAX_REQUEST_BYTES)) this.#hear(line)
    } catch (error) {
      if (error instanceof RejectedError) this.#refuse(error)
      else this.#answering.logger.debug('control connection broke', { reason: messageOf(error) })
    }
    // Closed on unread bytes, the connection would lose the answer.
    this.#socket.resume()
    this.stop(new InterruptedError('The client went away'))
    await this.answered
    await this.#closed
  }

  /** Aborts what runs for this client; it is still answered. */
  stop(reason: Error): void {
    this.#abort.abort(reason)
    if (!this.#answered) this.#socket.destroySoon()
  }

  destroy(): void {
    this.#socket.destroy()
  }

  /** The first line asks; any later one ends what was asked for. */
  #hear(line: string): void {
    if (!this.#answered) {
      this.#onRequest()
      this.#answered = this.#answer(line)
      return
    }
    const { success, data } = stopLine.safeParse(parseLine(line))
    this.stop(success ? errorOf(data.reason) : new InterruptedError('The client sent a second request'))
  }

  #refuse(error: RejectedError): void {
    if (this.#answered) return
    this.#answered = Promise.resolve()
    this.#finish({ kind: 'error', ...faultOf(error) })
  }

  async #answer(line: string): Promise<void> {
    const timer = this.#tellProgress()
    const answer = await this.#work(line)
    clearInterval(timer)
    this.#finish(answer)
  }

  async #work(line: string): Promise<AnswerLine> {
    try {
      const fileLog: FileLog = { wouldSend() {}, sent: (file) => this.#nameFile(file) }
      const run = { signal: this.#abort.signal, progress: this.#progress, fileLog }
      return { kind: 'result', result: await answerRequest(parseLine(line), this.#answering, run) }
    } catch (error) {
      this.#answering.logger.debug('control request failed', { reason: messageOf(error) })
      return { kind: 'error', ...faultOf(error) }
    }
  }

  /** Says what has changed since it was last said; a client that does not read is not told more. */
  #tellProgress(): NodeJS.Timeout {
    let last = JSON.stringify(this.#progress)
    return setInterval(() => {
      const now = JSON.stringify(this.#progress)
      if (now === last || this.#socket.writableNeedDrain) return
      last = now
      sendLine(this.#socket, { kind: 'progress', progress: this.#progress })
    }, PROGRESS_PAUSE_MS)
  }

  /** A client that does not read is not told of every file. */
  #nameFile(file: SentFile): void {
    if (this.#socket.writableLength < MOST_UNREAD_BYTES) sendLine(this.#socket, { kind: 'sent', file })
  }

  #finish(answer: AnswerLine): void {
    sendLine(this.#socket, answer)
    this.#socket.end()
  }
}
