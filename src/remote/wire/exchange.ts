import type { IncomingHttpHeaders } from 'node:http'
import { Readable } from 'node:stream'
import type { Dispatcher } from 'undici'
import type { Clock, Timer } from '../../foundation/clock.ts'
import { onAbort } from '../../foundation/concurrency/waits.ts'
import { ClosedFenceError } from '../service-client.ts'
import { SourceFailure } from './multipart.ts'
import type { ServiceRequest } from './request.ts'
import { interruption, networkError, noConnection, TransientFailure, type Wire } from './transient-failure.ts'

/** The maximum length of JSON and error bodies, before and after decompression. */
export const BODY_LIMIT_BYTES = 8 << 20

/** A download with a lower mean rate is aborted, so that an answer that only trickles ends. */
const MIN_BYTES_PER_MS = 1

interface ExchangeLimits {
  /** The time from the last byte sent to the end of the answer. */
  readonly answerMs: number
  /** The time between two chunks of a streamed body; undefined if the body is sent in one write. */
  readonly stallMs: number | undefined
  /** The time from now to the end of the answer, connecting included; undefined: no limit. */
  readonly cutMs: number | undefined
}

interface ExchangeWire extends Wire {
  /** Called when nothing of an exchange is in flight any more. */
  readonly onEnded: () => void
}

interface WireResponse {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
  readonly stream: Readable | undefined
}

/**
 * One request on the wire. It records whether a connection was established and whether a byte of the body may have left, because
 * retries depend on both. It has its own deadlines, because those of undici do not end an answer that only trickles.
 */
export class Exchange implements Dispatcher.DispatchHandler {
  readonly response: Promise<WireResponse>
  status: number | undefined
  readonly #request: ServiceRequest<unknown>
  readonly #limits: ExchangeLimits
  readonly #wire: ExchangeWire
  readonly #clock: Clock
  #resolve: (response: WireResponse) => void = () => {}
  #reject: (error: unknown) => void = () => {}
  #controller: Dispatcher.DispatchController | undefined
  #timer: Timer | undefined
  #ended = false
  #connected = false
  #mayHaveTakenEffect = false
  #headers: IncomingHttpHeaders = {}
  #chunks: Buffer[] = []
  #receivedBytes = 0
  #stream: Readable | undefined
  #streamStartMs = 0
  readonly #cut: Timer | undefined
  readonly #aborting: Disposable | undefined

  constructor(request: ServiceRequest<unknown>, limits: ExchangeLimits, wire: ExchangeWire) {
    this.#request = request
    this.#limits = limits
    this.#wire = wire
    this.#clock = wire.clock
    this.response = new Promise((resolve, reject) => {
      this.#resolve = resolve
      this.#reject = reject
    })
    this.#aborting = request.signal && onAbort(request.signal, this.#onAbort)
    const { cutMs } = limits
    if (cutMs !== undefined) this.#cut = this.#clock.startTimer(cutMs, this.#onDeadline)
  }

  /** Ends the exchange with `error` and destroys the socket, so that the service never sees the end of a body. */
  fail(error: unknown): void {
    if (this.#ended) return
    this.#end()
    const reason = error instanceof Error ? error : new Error('failed')
    this.#controller?.abort(reason)
    if (this.#stream) this.#stream.destroy(reason)
    else this.#reject(error)
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller
    if (this.#ended) {
      controller.abort(new Error('ended'))
      return
    }
    const { body } = this.#request
    const isOneWrite = this.#limits.stallMs === undefined
    // A body of one write goes to the socket at once, so its fence is checked here.
    if (isOneWrite && body?.kind === 'file' && body.fence?.isOpen() === false) {
      this.fail(new ClosedFenceError())
      return
    }
    this.#connected = true
    this.#mayHaveTakenEffect = isOneWrite
    this.#setDeadline(this.#limits.stallMs ?? this.#limits.answerMs)
    this.#request.onStart?.()
    this.#request.onActivity?.()
  }

  onBodySent(): void {
    this.#request.onActivity?.()
    this.#mayHaveTakenEffect = true
    if (this.#limits.stallMs !== undefined) this.#timer?.refresh()
  }

  onRequestSent(): void {
    if (this.#limits.stallMs !== undefined && !this.#ended) this.#setDeadline(this.#limits.answerMs)
  }

  onResponseStart(controller: Dispatcher.DispatchController, status: number, headers: IncomingHttpHeaders): void {
    if (status < 200 || this.#ended) return
    this.status = status
    this.#headers = headers
    if (!this.#request.streamed || status !== 200) return
    this.#streamStartMs = this.#clock.monotonicMs()
    this.#stream = new Readable({
      read: () => controller.resume(),
      destroy: (error, done) => {
        this.fail(error ?? new Error('closed'))
        done(error)
      },
    }).on('error', () => {})
    this.#resolve({ status, headers, body: Buffer.alloc(0), stream: this.#stream })
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#ended) return
    this.#receivedBytes += chunk.length
    if (this.#stream) this.#passOn(controller, this.#stream, chunk)
    else if (this.#receivedBytes <= BODY_LIMIT_BYTES) this.#chunks.push(chunk)
    else this.fail(this.#transientFailure('answer-malformed', 'the answer is too long', true))
  }

  onResponseEnd(): void {
    if (this.#ended) return
    this.#end()
    if (this.#stream) this.#stream.push(null)
    else this.#resolve({ status: this.status ?? 0, headers: this.#headers, body: this.#body(), stream: undefined })
  }

  onResponseError(_controller: Dispatcher.DispatchController | null, thrown: Error): void {
    const state = { connected: this.#connected, mayHaveTakenEffect: this.#mayHaveTakenEffect }
    this.fail(thrown instanceof SourceFailure ? thrown.cause : networkError(this.#request, thrown, state, this.#wire))
  }

  #passOn(controller: Dispatcher.DispatchController, stream: Readable, chunk: Buffer): void {
    const allowedMs = this.#limits.answerMs + this.#receivedBytes / MIN_BYTES_PER_MS
    if (this.#clock.monotonicMs() - this.#streamStartMs > allowedMs) {
      this.#onDeadline()
      return
    }
    this.#timer?.refresh()
    if (!stream.push(chunk)) controller.pause()
  }

  #body(): Buffer {
    const only = this.#chunks[0]
    return only && this.#chunks.length === 1 ? only : Buffer.concat(this.#chunks)
  }

  #setDeadline(durationMs: number): void {
    this.#timer?.[Symbol.dispose]()
    this.#timer = this.#clock.startTimer(durationMs, this.#onDeadline)
  }

  #end(): void {
    this.#ended = true
    this.#wire.onEnded()
    this.#timer?.[Symbol.dispose]()
    this.#cut?.[Symbol.dispose]()
    this.#aborting?.[Symbol.dispose]()
  }

  #transientFailure(code: 'answer-malformed' | 'answer-late', reason: string, final = false): TransientFailure {
    return new TransientFailure({
      code,
      reason,
      connected: this.#connected,
      mayHaveTakenEffect: this.#mayHaveTakenEffect,
      final,
    })
  }

  readonly #onAbort = (): void => this.fail(interruption(this.#request, this.#mayHaveTakenEffect))

  readonly #onDeadline = (): void => {
    if (this.#connected) this.fail(this.#transientFailure('answer-late', 'no complete answer in time'))
    else this.fail(noConnection(this.#wire))
  }
}
