import type { Clock, Timer } from '../../../foundation/clock.ts'
import { type ExtractionLimits, timeLimitMs } from '../extraction-limits.ts'
import type { ExtractionEnd, ExtractionSink } from '../readers/extraction.ts'
import type { ChildDocument, ChildMessage, PieceMessage } from './child-messages.ts'
import { type ProcessEnd, type ReaderProcess, type ReaderSetup, startReaderProcess } from './reader-process.ts'

interface Job {
  readonly sink: ExtractionSink
  readonly limit: TimeLimit
  readonly limitMs: number
  resolve(end: ExtractionEnd): void
  reject(error: unknown): void
}

/** The documents that one child process has been sent; it reads the first of them. */
class DocumentReader {
  readonly #limits: ExtractionLimits
  readonly #clock: Clock
  readonly #process: ReaderProcess
  readonly #jobs = new Map<number, Job>()
  readonly #ended = Promise.withResolvers<void>()
  readonly #idle: TimeLimit
  #lastId = 0
  #isReady = false
  #isOverTime = false
  #stopReason: Error | undefined
  hasEnded = false

  constructor(setup: ReaderSetup, clock: Clock) {
    const { limits } = setup
    this.#limits = limits
    this.#clock = clock
    this.#idle = new TimeLimit(clock, limits.idleMs, () => this.#end())
    this.#process = startReaderProcess(setup, {
      onMessage: (message) => this.#receive(message),
      onEnd: (end) => this.#settleAll(end),
    })
  }

  read(document: ChildDocument, sink: ExtractionSink): Promise<ExtractionEnd> {
    this.#lastId += 1
    const id = this.#lastId
    const limitMs = timeLimitMs(this.#limits, document.sizeBytes)
    const limit = new TimeLimit(this.#clock, limitMs, () => this.#endOverTime())
    const { promise, resolve, reject } = Promise.withResolvers<ExtractionEnd>()
    this.#jobs.set(id, { sink, limit, limitMs, resolve, reject })
    this.#idle.reset()
    this.#process.send({ kind: 'extract', id, ...document, maxPassages: this.#limits.maxPassages })
    this.#watch()
    return promise
  }

  async stop(reason: Error): Promise<void> {
    this.#stopReason = reason
    this.#end()
    await this.#ended.promise
  }

  /** Starts the time limit of the first document, which includes the start of the process, or else the idle time. */
  #watch(): void {
    if (this.hasEnded) return
    const [current] = this.#jobs.values()
    const limit = current?.limit ?? this.#idle
    limit.start()
  }

  #receive(message: ChildMessage): void {
    if (message.kind === 'ready') this.#isReady = true
    else void this.#takePiece(message)
  }

  async #takePiece({ id, isRestart, isPart, passages, end, machineFault }: PieceMessage): Promise<void> {
    const job = this.#jobs.get(id)
    const isLast = end !== undefined || machineFault !== undefined
    if (!job) return isLast ? undefined : this.#process.send({ kind: 'drop', id })
    if (isPart) job.limit.reset()
    else job.limit.stop()
    try {
      if (isRestart) job.sink.restart()
      for (const passage of passages) job.sink.take(passage)
      if (end) return this.#settle(id, () => job.resolve(end))
      if (machineFault !== undefined) throw new MachineFaultError(machineFault)
      await job.sink.drain()
      this.#process.send({ kind: 'continue', id })
      this.#watch()
    } catch (error) {
      if (!isLast) this.#process.send({ kind: 'drop', id })
      this.#settle(id, () => job.reject(error))
    }
  }

  #settle(id: number, settle: () => void): void {
    this.#jobs.delete(id)
    settle()
    this.#watch()
  }

  #endOverTime(): void {
    this.#isOverTime = true
    this.#end()
  }

  #end(): void {
    this.hasEnded = true
    this.#process.kill()
  }

  #settleAll(end: ProcessEnd): void {
    this.hasEnded = true
    this.#idle.stop()
    const jobs = [...this.#jobs.values()]
    this.#jobs.clear()
    for (const [index, job] of jobs.entries()) {
      job.limit.stop()
      job.reject(this.#stopReason ?? (index === 0 ? this.#explain(end, job) : bystander()))
    }
    this.#ended.resolve()
  }

  #explain({ how, isOutOfMemory }: ProcessEnd, { limitMs }: Job): Error {
    if (!this.#isReady) {
      return new MachineFaultError(`Cannot start the process that reads documents (${how})`)
    }
    if (this.#isOverTime) {
      return new ChildEndedError('over-time', `Its text was not extracted within ${Math.round(limitMs / 1_000)} s`)
    }
    if (isOutOfMemory) {
      const message = `Extracting its text takes more than ${this.#limits.memoryMiB} MiB of memory`
      return new ChildEndedError('over-memory', message)
    }
    return new ChildEndedError('crashed', `Extracting its text ended unexpectedly (${how})`)
  }
}

function bystander(): ChildEndedError {
  return new ChildEndedError('bystander', 'The process that reads documents ended')
}

export type ChildExtractor = ReturnType<typeof openChildExtractor>

/** Extracts text in a child process, which starts when it is needed and ends when it has been idle for a while. */
export function openChildExtractor(setup: ReaderSetup, clock: Clock) {
  let reader: DocumentReader | undefined
  let stopReason: Error | undefined
  return {
    /**
     * Reads documents one after the other, in the order of the calls. Throws ChildEndedError when the process ended first,
     * MachineFaultError, and the error of the sink when that throws.
     */
    extract: async (document: ChildDocument, sink: ExtractionSink) => {
      if (stopReason) throw stopReason
      if (!reader || reader.hasEnded) reader = new DocumentReader(setup, clock)
      return await reader.read(document, sink)
    },
    /** Ends the process at once; extractions under way fail with `reason`. */
    stop: async (reason: Error) => {
      stopReason = reason
      await reader?.stop(reason)
    },
  }
}

/** The reason why the process ended; `bystander`: it was reading another document. */
type ChildFate = 'over-time' | 'over-memory' | 'crashed' | 'bystander'

/** The child process ended before it finished a document. */
export class ChildEndedError extends Error {
  readonly fate: ChildFate

  constructor(fate: ChildFate, message: string) {
    super(message)
    this.fate = fate
  }
}

/** The machine, not the document, is why it was not read: it is read again later. */
export class MachineFaultError extends Error {}

/** A duration that may be spent in several spans; calls `onOver` when it is used up. */
class TimeLimit {
  readonly #clock: Clock
  readonly #limitMs: number
  readonly #onOver: () => void
  #spentMs = 0
  #running: { readonly sinceMs: number; readonly timer: Timer } | undefined

  constructor(clock: Clock, limitMs: number, onOver: () => void) {
    this.#clock = clock
    this.#limitMs = limitMs
    this.#onOver = onOver
  }

  /** Starts a span; does nothing while one runs. */
  start(): void {
    if (this.#running) return
    const timer = this.#clock.startTimer(Math.max(0, this.#limitMs - this.#spentMs), this.#onOver)
    this.#running = { sinceMs: this.#clock.monotonicMs(), timer }
  }

  stop(): void {
    if (!this.#running) return
    this.#spentMs += this.#clock.monotonicMs() - this.#running.sinceMs
    this.#running.timer[Symbol.dispose]()
    this.#running = undefined
  }

  /** Stops, and makes the whole duration available again. */
  reset(): void {
    this.stop()
    this.#spentMs = 0
  }
}
