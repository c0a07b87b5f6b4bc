/** The wire between the program and the simulated service: a dispatcher of undici, below retries and JSON. */
import { Dispatcher } from 'undici'
import type { Clock } from '../../../src/foundation/clock.ts'
import { type Fault, type Faults, THROTTLED } from './faults.ts'
import type { Life } from './life.ts'
import { json, type Reply, readMultipart, routeOf, type ServiceRequest, type SimulatedService } from './service.ts'

export const ORIGIN = 'https://library.example'
export const TOKEN = 'canary-token-of-the-simulation'

/** One upload as the service saw it. */
export interface SeenUpload {
  readonly sha256: string
  readonly mime: string
  readonly fileName: string
  /** The library path of its directory, where the upload names one. */
  readonly directory: string | undefined
  /** True if the service stored it (or knew it). */
  isStored: boolean
  /** A live program got an answer that confirms it. */
  isAcknowledged: boolean
  /** A live program got an answer that settles whether it was stored. */
  isClear: boolean
  /** The answer says that the service does not take this file. */
  readonly isRefused: boolean
  /** All of it left, and no whole answer came: before the program sends the content again, it has to search for it. */
  readonly isInDoubt: boolean
  readonly atMs: number
}

/** One request as it begins. */
export interface SeenRequest {
  readonly method: string
  readonly path: string
  readonly headers: ReadonlyMap<string, string>
  /** Until when the service asked this client to wait. */
  readonly notBeforeMs: number
}

export interface NetworkHooks {
  readonly clock: Clock
  readonly random: () => number
  readonly faults: Faults
  readonly service: SimulatedService
  /** Each request as it begins. */
  readonly onRequest: (request: SeenRequest) => void
  /** The first byte of an upload of these bytes arrives. */
  readonly onUploadBegun: (fileName: string) => void
  /** All of it is there, and the service has done with it what it will. */
  readonly onUploadEnded: (upload: SeenUpload) => void
  readonly onFault: (fault: Fault) => void
  /** The program has its answer, or none will come. */
  readonly onUploadOver: (upload: SeenUpload) => void
  /** How long a part of a request or an answer takes at most. */
  readonly longestPassMs?: number
  /** The same of an upload. */
  readonly longestPartMs?: number
  /** How long the last part of an upload lies in buffers at most, once the program has handed it over. */
  readonly longestBufferMs?: number
  /** Waits until the program runs: one that is stopped hands nothing to the wire and takes nothing from it. */
  readonly awake?: () => Promise<void>
}

/** The network of one life: nothing reaches a program that is dead. */
export class SimulatedNetwork extends Dispatcher {
  readonly #hooks: NetworkHooks
  readonly #life: Life
  #notBeforeMs = 0

  constructor(hooks: NetworkHooks, life: Life) {
    super()
    this.#hooks = hooks
    this.#life = life
  }

  override dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
    const { onRequest, clock } = this.#hooks
    const { method, path = '/' } = options
    const headers = headersOf(options.headers)
    onRequest({ method, path, headers, notBeforeMs: this.#notBeforeMs })
    const onThrottled = (forMs: number) => {
      this.#notBeforeMs = Math.max(this.#notBeforeMs, clock.monotonicMs() + forMs)
    }
    const exchange = new SimulatedExchange(this.#hooks, this.#life, options, handler, onThrottled)
    exchange.run().catch((error: unknown) => this.#life.onFailure(error))
    return true
  }
}

class SimulatedExchange implements Dispatcher.DispatchController {
  readonly paused = false
  reason: Error | null = null
  readonly rawHeaders = null
  readonly rawTrailers = null
  readonly #hooks: NetworkHooks
  readonly #life: Life
  readonly #options: Dispatcher.DispatchOptions
  readonly #handler: Dispatcher.DispatchHandler
  readonly #onThrottled: (forMs: number) => void
  #isPaused = false
  #wake = () => {}

  constructor(
    hooks: NetworkHooks,
    life: Life,
    options: Dispatcher.DispatchOptions,
    handler: Dispatcher.DispatchHandler,
    onThrottled: (forMs: number) => void,
  ) {
    this.#onThrottled = onThrottled
    this.#hooks = hooks
    this.#life = life
    this.#options = options
    this.#handler = handler
  }

  get aborted(): boolean {
    return this.reason !== null
  }

  abort(reason: Error): void {
    this.reason ??= reason
    this.#wake()
  }

  pause(): void {
    this.#isPaused = true
  }

  resume(): void {
    this.#isPaused = false
    this.#wake()
  }

  async run(): Promise<void> {
    const { method, path = '/' } = this.#options
    const headers = headersOf(this.#options.headers)
    const { route, values, query } = routeOf(method, path)
    const fault =
      route === 'uploadFile' ? undefined : this.#hooks.faults.decide(route, this.#subjectOf(route, values, query))
    if (fault) this.#hooks.onFault(fault)
    await this.#pass(route === 'uploadFile' ? this.#hooks.longestPartMs : undefined)
    if (await this.#isOver()) return
    if (fault?.kind === 'refused') return this.#fail('ECONNREFUSED')
    this.#handler.onRequestStart?.(this, null)
    if (this.aborted) return
    const body = await this.#readBody(route === 'uploadFile', headers)
    if (body === undefined) return
    const request = { route, values, query, headers, body }
    if (route === 'uploadFile') await this.#upload(request)
    else await this.#answer(fault, () => this.#hooks.service.answer(request))
  }

  /** Waits until the program runs, where it may be stopped; returns whether it is dead, and hands over nothing more. */
  async #isOver(): Promise<boolean> {
    if (!this.#hooks.awake) return false
    await this.#hooks.awake()
    return this.#life.isDead
  }

  /** Returns what the request is about, so that the same may happen to each one about it. */
  #subjectOf(route: ServiceRequest['route'], values: readonly string[], query: URLSearchParams): string {
    if (route === 'createDirectory') return String(JSON.parse(String(this.#options.body)).path)
    return values.at(-1) ?? query.get('path') ?? ''
  }

  async #upload(request: ServiceRequest): Promise<void> {
    const { faults, service, clock, onUploadEnded, onUploadOver } = this.#hooks
    const form = readMultipart(request.headers.get('content-type') ?? '', request.body)
    const { sha256 } = form
    const fault = faults.decide('uploadFile', `${sha256} ${form.mime}`)
    if (fault) this.#hooks.onFault(fault)
    const upload: SeenUpload = {
      sha256,
      mime: form.mime,
      fileName: form.fileName,
      directory: form.fields.get('directory_path'),
      isStored: fault === undefined || (fault.kind !== 'refused' && fault.isStored),
      isAcknowledged: false,
      isClear: false,
      isRefused: isRefusal(fault) && fault.reply !== THROTTLED,
      isInDoubt: fault?.kind === 'reset' || fault?.kind === 'silence' || fault?.kind === 'cut',
      atMs: clock.monotonicMs(),
    }
    const hasArrived = await this.#answer(
      fault,
      () => service.answer({ ...request, form }),
      ({ status }) => {
        upload.isStored &&= status < 400
        onUploadEnded(upload)
      },
    )
    upload.isAcknowledged = fault === undefined && hasArrived
    upload.isClear = upload.isAcknowledged || isRefusal(fault)
    onUploadOver(upload)
  }

  /** Answers as the fault wants; true when the service's own answer arrived whole. */
  async #answer(
    fault: Fault | undefined,
    ask: () => Reply,
    onAsked: (reply: Reply) => void = () => {},
  ): Promise<boolean> {
    const isDone = fault === undefined || (fault.kind !== 'refused' && fault.isStored)
    const own = isDone ? ask() : json(500, {})
    onAsked(own)
    await this.#pass()
    await this.#hooks.awake?.()
    if (this.aborted || this.#life.isDead) return false
    if (fault === undefined) return this.#reply(own)
    if (fault.kind === 'silence') return false
    if (fault.kind === 'answer') {
      const retryAfter = fault.reply.headers['retry-after']
      if (retryAfter !== undefined) this.#onThrottled(Number(retryAfter) * 1_000)
      await this.#reply(fault.reply)
    } else if (fault.kind === 'cut') await this.#replyInPart(own)
    else this.#fail('ECONNRESET')
    return false
  }

  async #reply({ status, headers, body }: Reply): Promise<boolean> {
    this.#handler.onResponseStart?.(this, status, { ...headers }, '')
    for (let start = 0; start < body.length; start += REPLY_BYTES) {
      if (this.#isPaused && !this.aborted) await new Promise<void>((resolve) => (this.#wake = resolve))
      if (this.aborted || this.#life.isDead) return false
      this.#handler.onResponseData?.(this, body.subarray(start, start + REPLY_BYTES))
    }
    if (this.aborted) return false
    this.#handler.onResponseEnd?.(this, {})
    return true
  }

  /** Half of it: of JSON as if that were all, of a file as far as the connection goes. */
  async #replyInPart({ status, headers, body }: Reply): Promise<void> {
    const half = body.subarray(0, body.length >> 1)
    if (headers['content-type'] === 'application/json') {
      await this.#reply({ status, headers: {}, body: half })
      return
    }
    this.#handler.onResponseStart?.(this, status, { ...headers }, '')
    this.#handler.onResponseData?.(this, half)
    this.#fail('ECONNRESET')
  }

  #fail(code: string): void {
    if (!this.#life.isDead) this.#handler.onResponseError?.(this, Object.assign(new Error(code), { code }))
  }

  /** The whole body; undefined when it broke off, which the service never takes for a file. */
  async #readBody(isUpload: boolean, headers: ReadonlyMap<string, string>): Promise<Buffer | undefined> {
    const { body } = this.#options
    const chunks: Buffer[] = []
    let leftBytes = Number(headers.get('content-length') ?? 0)
    try {
      for await (const chunk of chunksOf(body)) {
        const bytes = Buffer.from(chunk)
        if (chunks.length === 0 && isUpload) this.#hooks.onUploadBegun(fileNameOf(bytes))
        chunks.push(bytes)
        if (bytes.length > 0) this.#handler.onBodySent?.(bytes)
        leftBytes -= bytes.length
        const { longestPartMs, longestBufferMs } = this.#hooks
        await this.#pass(isUpload ? (leftBytes > 0 ? longestPartMs : longestBufferMs) : undefined)
        if (leftBytes > 0) await this.#hooks.awake?.()
        if (this.aborted || this.#life.isDead) return undefined
      }
    } catch (error) {
      if (!this.#life.isDead && error instanceof Error) this.#handler.onResponseError?.(this, error)
      return undefined
    }
    this.#handler.onRequestSent?.()
    const whole = Buffer.concat(chunks)
    const declared = headers.get('content-length')
    if (declared !== undefined && Number(declared) !== whole.length)
      throw new Error(`A body of another length: ${declared}`)
    return whole
  }

  /** A while on the wire. */
  async #pass(longestMs = this.#hooks.longestPassMs ?? 40): Promise<void> {
    const { clock, random } = this.#hooks
    this.#life.step('network')
    await clock.sleep(1 + Math.floor(random() * longestMs))
  }
}

/** After a 429 or a refusal, it is certain that nothing was stored. */
function isRefusal(fault: Fault | undefined): fault is Fault & { kind: 'answer' } {
  return fault?.kind === 'answer' && fault.reply.status >= 400 && fault.reply.status < 500
}

const REPLY_BYTES = 65_536

function chunksOf(body: unknown): AsyncIterable<Uint8Array> | Iterable<Uint8Array> {
  if (isIterable(body)) return body
  return typeof body === 'string' || body instanceof Uint8Array ? [Buffer.from(body)] : []
}

function isIterable(body: unknown): body is AsyncIterable<Uint8Array> {
  return typeof body === 'object' && body !== null && Symbol.asyncIterator in body
}

function fileNameOf(bytes: Buffer): string {
  return /name="file"; filename="([^"]*)"/.exec(bytes.subarray(0, 4_096).toString())?.[1] ?? ''
}

function headersOf(given: Dispatcher.DispatchOptions['headers']): ReadonlyMap<string, string> {
  const headers = new Map<string, string>()
  if (!Array.isArray(given)) return headers
  for (let index = 0; index < given.length; index += 2) headers.set(String(given[index]), String(given[index + 1]))
  return headers
}
