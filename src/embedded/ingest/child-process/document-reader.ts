import { type ChildProcess, fork } from 'node:child_process'
import type { Clock, Timer } from '../../../foundation/clock.ts'
import { threadEntry } from '../../../foundation/concurrency/thread-entry.ts'
import { systemCodeOf } from '../../../foundation/errors.ts'
import { childEnvironment } from '../../read-by-program.ts'
import { type ExtractionLimits, timeLimitMs } from '../extraction-limits.ts'
import type { ExtractionEnd, ExtractionSink } from '../readers/extraction.ts'
import {
  type ChildDocument,
  type ChildMessage,
  type ChildRequest,
  childMessage,
  type PieceMessage,
} from './child-messages.ts'

interface ReaderSetup {
  readonly limits: ExtractionLimits
  /** True if it recognizes text in pictures, at a low priority. */
  readonly recognizes: boolean
  readonly temporaryDir: string
}

export type ChildExtractor = ReturnType<typeof openChildExtractor>

/** Extracts text in a child process, which starts when it is needed and ends when it has been idle for a while. */
export function openChildExtractor(setup: ReaderSetup, clock: Clock) {
  let reader: DocumentReader | undefined
  let stopReason: Error | undefined
  return {
    /**
     * Extracts the text of a document, after those of earlier calls. Throws ChildEndedError if the process ended first,
     * MachineFaultError if the machine is at fault, and any error that the sink throws.
     */
    extract: async (document: ChildDocument, sink: ExtractionSink) => {
      if (stopReason) throw stopReason
      if (!reader || reader.hasEnded) reader = new DocumentReader(setup, clock)
      return await reader.read(document, sink)
    },
    /** Ends the process at once; unfinished extractions throw `reason`. */
    stop: async (reason: Error) => {
      stopReason = reason
      await reader?.stop(reason)
    },
  }
}

/** Why a document was not finished; `bystander`: the process ended while it was reading another document. */
type ChildFate = 'over-time' | 'over-memory' | 'crashed' | 'bystander'

/** The child process ended before it finished a document. */
export class ChildEndedError extends Error {
  readonly fate: ChildFate

  constructor(fate: ChildFate, message: string) {
    super(message)
    this.fate = fate
  }
}

/** The machine, not the document, is at fault; the document is read again later. */
export class MachineFaultError extends Error {}

interface Job {
  readonly sink: ExtractionSink
  readonly limit: TimeLimit
  readonly limitMs: number
  resolve(end: ExtractionEnd): void
  reject(error: unknown): void
}

/** Sends documents to one child process, which reads them in their order, and receives their passages. */
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

  /** Starts the time limit of the document that is being read, which includes the start of the process; without one, the idle time. */
  #watch(): void {
    if (this.hasEnded) return
    const [current] = this.#jobs.values()
    const limit = current?.limit ?? this.#idle
    limit.start()
  }

  #receive(message: ChildMessage): void {
    if (message.kind === 'ready') this.#isReady = true
    else void this.#receivePiece(message)
  }

  async #receivePiece({ id, isRestart, isPart, passages, end, machineFault }: PieceMessage): Promise<void> {
    const job = this.#jobs.get(id)
    const isLast = end !== undefined || machineFault !== undefined
    if (!job) return isLast ? undefined : this.#process.send({ kind: 'drop', id })
    if (isPart) job.limit.reset()
    else job.limit.stop()
    try {
      if (isRestart) job.sink.restart()
      for (const passage of passages) job.sink.emit(passage)
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

interface ProcessEnd {
  readonly isOutOfMemory: boolean
  /** The signal, exit code or error, such as `SIGKILL` or `exit code 1`. */
  readonly how: string
}

interface ProcessListener {
  onMessage(message: ChildMessage): void
  /** Called once, after the last message. */
  onEnd(end: ProcessEnd): void
}

type ReaderProcess = ReturnType<typeof startReaderProcess>

const ENTRY = threadEntry('./child', import.meta.url)
const MAX_STDERR_LENGTH = 4_096

/** Starts a child process that reads documents. Its memory is bounded, it gets none of our secrets, and only SIGKILL ends it. */
function startReaderProcess(setup: ReaderSetup, listener: ProcessListener) {
  const { limits, recognizes, temporaryDir } = setup
  const child = fork(ENTRY, [String(limits.memoryMiB), recognizes ? 'recognizer' : 'reader', temporaryDir], {
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    execArgv: ['--disable-sigusr1', `--max-old-space-size=${limits.heapMiB}`],
    env: { ...childEnvironment(), UV_THREADPOOL_SIZE: '1' },
    // It leads a process group, so that the programs that it runs can be ended with it.
    detached: process.platform !== 'win32',
  })
  listen(child, listener)
  return {
    send: (request: ChildRequest) => {
      // Errors of sending are ignored, because `onEnd` reports that the process has ended.
      if (child.connected) child.send(request, () => {})
    },
    kill: () => killAll(child),
  }
}

function listen(child: ChildProcess, { onMessage, onEnd }: ProcessListener): void {
  let stderr = ''
  let hasEnded = false
  const end = (how: string) => {
    if (hasEnded) return
    hasEnded = true
    onEnd({ how, isOutOfMemory: stderr.includes('out of memory') })
  }
  child.stderr?.on('data', (bytes: Buffer) => {
    stderr = (stderr + bytes.toString('latin1')).slice(-MAX_STDERR_LENGTH)
  })
  child.on('message', (raw) => {
    const message = childMessage.safeParse(raw)
    if (hasEnded) return
    if (message.success) onMessage(message.data)
    else killAll(child)
  })
  child.on('exit', () => killAll(child))
  child.on('error', (error) => end(error.message))
  child.on('close', (code, signal) => end(signal ?? `exit code ${code}`))
}

/** Ends the process group: the process, if it still runs, and the programs that it started. */
function killAll({ pid }: ChildProcess): void {
  if (pid === undefined) return
  try {
    process.kill(process.platform === 'win32' ? pid : -pid, 'SIGKILL')
  } catch (error) {
    // macOS answers EPERM for a group that has only ended processes.
    if (!['ESRCH', 'EPERM'].includes(systemCodeOf(error) ?? '')) throw error
  }
}

/** Measures a duration that may consist of several spans, and calls `onOver` when its limit is reached. */
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

  /** Stops, and starts again from zero at the next start. */
  reset(): void {
    this.stop()
    this.#spentMs = 0
  }
}
