import { MessageChannel, type MessagePort, receiveMessageOnPort, type Worker } from 'node:worker_threads'
import { trackFileSystemThread } from '../../foundation/concurrency/stuck-threads.ts'
import { threadEntry } from '../../foundation/concurrency/thread-entry.ts'
import { endThread, hasEnded, startThread } from '../../foundation/concurrency/threads.ts'
import { withinTime } from '../../foundation/concurrency/waits.ts'
import { messageOf } from '../../foundation/errors.ts'
import { noAnswer } from './file-errors.ts'
import { ANSWER_MS } from './file-system.ts'

export type CallName =
  | 'readdirSync'
  | 'lstatSync'
  | 'statSync'
  | 'openSync'
  | 'fstatSync'
  | 'readSync'
  | 'closeSync'
  | 'realpathSync'
  | 'readlinkSync'
  | 'accessSync'
  | 'statfsSync'

export interface MountCall {
  readonly id: number
  readonly name: CallName | 'ask'
  readonly args: readonly unknown[]
}

export type MountAnswer<T> = { readonly id: number } & CallResult<T>

/** What a call returned, or the fields of its error. */
export type CallResult<T> = { readonly value: T } | { readonly error: { readonly message: string } }

export interface MountThreadData {
  /** Receives the answers. A port's messages can be read without waiting for an event, unlike those of a worker. */
  readonly port: MessagePort
  /** Counts the answers, so that a blocked caller can wait for the next one. */
  readonly answers: Int32Array
}

interface MountThread {
  readonly worker: Worker
  readonly port: MessagePort
}

/** Little memory is enough for one call at a time. Only the young generation is bounded, because a directory may have millions of names. */
const LIMITS = { maxYoungGenerationSizeMb: 2 }

/** Makes calls on one mount in a thread, and asynchronous reads in another, so that no caller waits for the mount without end. */
export class SharedMount {
  /** True if the mount has answered and no call was late since. */
  hasAnswered = false
  readonly #point: string
  readonly #limitMs: number
  #thread: MountThread
  readonly #answers = new Int32Array(new SharedArrayBuffer(4))
  readonly #waiting = new Map<number, (answer: MountAnswer<never>) => void>()
  #lastId = 0
  /** True after a late call: until it ends, all calls fail at once. */
  #isStuck = false
  #question: { readonly sinceMs: number; readonly answer: Promise<void> } | undefined
  #reader: SharedMount | undefined

  constructor(point: string, limitMs = ANSWER_MS) {
    this.#point = point
    this.#limitMs = limitMs
    this.#thread = this.#start()
  }

  #start(): MountThread {
    const { port1, port2 } = new MessageChannel()
    const data: MountThreadData = { port: port2, answers: this.#answers }
    const worker = startThread(threadEntry('./mount-thread', import.meta.url), {
      data,
      transferList: [port2],
      resourceLimits: LIMITS,
      // Other threads read and close what this thread opens.
      trackUnmanagedFds: false,
      name: 'mount',
    })
    worker.unref()
    trackFileSystemThread(worker)
    // A failed thread fails only the calls that wait for it.
    worker.on('error', (error) => this.#failAll(messageOf(error)))
    worker.once('exit', () => this.#failAll('the thread of the mount has ended'))
    port1.on('message', (answer: MountAnswer<never>) => this.#deliver(answer)).unref()
    return { worker, port: port1 }
  }

  /** Makes a call and blocks until it is answered. Throws the call's error, or ETIMEDOUT after `limitMs`. */
  call<T>(name: CallName, ...args: readonly unknown[]): T {
    if (!this.hasAnswered && this.#question) throw noAnswer(name, args)
    if (!this.hasAnswered) this.#callNow('ask', this.#point)
    this.hasAnswered = true
    return this.#callNow(name, ...args)
  }

  #callNow<T>(name: CallName | 'ask', ...args: readonly unknown[]): T {
    this.#deliverAll()
    if (this.#isStuck) throw noAnswer(name, args)
    const answered: MountAnswer<T>[] = []
    const id = this.#post({ name, args }, (answer) => void answered.push(answer))
    const endMs = performance.now() + this.#limitMs
    for (;;) {
      const seen = Atomics.load(this.#answers, 0)
      this.#deliverAll()
      if (answered[0]) return resultOf(answered[0])
      const remainingMs = endMs - performance.now()
      if (remainingMs <= 0) break
      Atomics.wait(this.#answers, 0, seen, remainingMs)
    }
    this.#isStuck = true
    this.hasAnswered = false
    this.#waiting.set(id, (late) => this.#discard(name, late))
    throw noAnswer(name, args)
  }

  /** Resolves when the mount answers, also with an error; rejects with ETIMEDOUT while an earlier question is late. */
  async answers(): Promise<void> {
    const { sinceMs = Number.POSITIVE_INFINITY } = this.#question ?? {}
    if (performance.now() - sinceMs > 0.9 * this.#limitMs) throw noAnswer('statfs', [this.#point])
    this.#question ??= { sinceMs: performance.now(), answer: this.#ask() }
    await this.#question.answer
  }

  async #ask(): Promise<void> {
    const late = setTimeout(() => {
      this.hasAnswered = false
    }, this.#limitMs).unref()
    await this.#callLater('ask', this.#point).catch(() => {})
    clearTimeout(late)
    this.#question = undefined
    this.hasAnswered = true
  }

  /** Reads without a limit of time as long as the mount answers other calls; if it does not, rejects with ETIMEDOUT. */
  async read(...args: readonly [descriptor: number, length: number, position: number]): Promise<Uint8Array> {
    this.#reader ??= new SharedMount(this.#point, this.#limitMs)
    let isRead = false
    const reading = this.#reader.#callLater<Uint8Array>('readSync', ...args).finally(() => {
      isRead = true
    })
    while (!isRead) {
      await withinTime(reading, this.#limitMs).catch(() => {})
      if (!isRead) await this.assertAnswers()
    }
    return reading
  }

  /** Rejects with ETIMEDOUT if the mount does not answer in time. */
  async assertAnswers(): Promise<void> {
    await withinTime(this.answers(), this.#limitMs).catch(() => {
      throw noAnswer('statfs', [this.#point])
    })
  }

  /** Closes a descriptor without waiting, because that may take as long as other calls. */
  close(descriptor: number): void {
    this.#post({ name: 'closeSync', args: [descriptor] }, () => {})
  }

  /** Ends the threads. One that is stuck is abandoned after some seconds. */
  async end(): Promise<void> {
    const { worker, port } = this.#thread
    await Promise.all([endThread(worker), this.#reader?.end()])
    port.close()
  }

  async #callLater<T>(name: CallName | 'ask', ...args: readonly unknown[]): Promise<T> {
    return resultOf(await new Promise<MountAnswer<T>>((resolve) => this.#post({ name, args }, resolve)))
  }

  #post(call: Omit<MountCall, 'id'>, onAnswer: (answer: MountAnswer<never>) => void): number {
    this.#lastId += 1
    const id = this.#lastId
    this.#waiting.set(id, onAnswer)
    if (hasEnded(this.#thread.worker)) this.#thread = this.#start()
    this.#thread.worker.postMessage({ ...call, id } satisfies MountCall)
    return id
  }

  #deliverAll(): void {
    const { port } = this.#thread
    for (let next = receiveMessageOnPort(port); next; next = receiveMessageOnPort(port)) this.#deliver(next.message)
  }

  #failAll(reason: string): void {
    const error = { message: `EIO: ${reason}`, code: 'EIO' }
    for (const id of [...this.#waiting.keys()]) this.#deliver({ id, error })
  }

  #deliver(answer: MountAnswer<never>): void {
    const onAnswer = this.#waiting.get(answer.id)
    this.#waiting.delete(answer.id)
    this.#isStuck = false
    onAnswer?.(answer)
  }

  /** Closes what a late call has opened, because its caller no longer waits. */
  #discard(name: CallName | 'ask', late: MountAnswer<number>): void {
    if (name === 'openSync' && 'value' in late) this.close(late.value)
  }
}

function resultOf<T>(answer: MountAnswer<T>): T {
  if ('value' in answer) return answer.value
  throw Object.assign(new Error(answer.error.message), answer.error)
}
