import type { Clock } from '../../../foundation/clock.ts'
import type { ExtractionEnd, ExtractionSink } from '../extract/extraction.ts'
import { type ExtractionLimits, timeLimitMs } from '../extraction-limits.ts'
import { ChildEndedError } from './child-ended-error.ts'
import type { ChildDocument, ChildMessage, PieceMessage } from './child-messages.ts'
import { type ProcessEnd, type ReaderProcess, type ReaderSetup, startReaderProcess } from './reader-process.ts'
import { TimeLimit } from './time-limit.ts'

interface Job {
  readonly sink: ExtractionSink
  readonly limit: TimeLimit
  readonly limitMs: number
  resolve(end: ExtractionEnd): void
  reject(error: unknown): void
}

/** The documents that one child process has been sent; it reads the first of them. */
export class DocumentReader {
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

  async #takePiece({ id, isRestart, isPart, passages, end }: PieceMessage): Promise<void> {
    const job = this.#jobs.get(id)
    if (!job) return end ? undefined : this.#process.send({ kind: 'drop', id })
    if (isPart) job.limit.reset()
    else job.limit.stop()
    try {
      if (isRestart) job.sink.restart()
      for (const passage of passages) job.sink.take(passage)
      if (end) return this.#settle(id, () => job.resolve(end))
      await job.sink.drain()
      this.#process.send({ kind: 'continue', id })
      this.#watch()
    } catch (error) {
      this.#process.send({ kind: 'drop', id })
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
      return new ChildEndedError('crashed', `Cannot start the process that reads documents (${how})`)
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
