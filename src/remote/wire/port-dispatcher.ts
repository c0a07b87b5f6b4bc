import type { MessagePort } from 'node:worker_threads'
import type { Dispatcher, Pool } from 'undici'
import { API_PREFIX, ROUTES } from '../../contract/routes.ts'
import type { PortAnswers, PortUploads } from '../../contract/upload-port.ts'
import type { Whereabouts } from './connector.ts'

const { method: METHOD, path: PATH } = ROUTES.uploadFile
/** The identifiers of the embedded library need no escapes. */
const UPLOAD = new RegExp(`^${API_PREFIX}${PATH.replace('{library}', '([\\w-]+)')}$`)
const ANSWER_HEADERS = { 'content-type': 'application/json; charset=utf-8' }

/** The part of a pool of sockets that the transport uses. */
export type Connections = Pick<Pool, 'dispatch' | 'destroyed'> & Record<'close' | 'destroy', () => Promise<void>>

/** An upload that has no answer yet. */
interface Upload {
  readonly port: MessagePort
  readonly library: string
  readonly options: Dispatcher.DispatchOptions
  readonly body: Buffer
  readonly handler: Dispatcher.DispatchHandler
  readonly controller: Dispatcher.DispatchController
}

/**
 * Sends an upload that is one buffer by the message port of a service in a thread of this process, together with others of the same
 * turn of the event loop. All other requests go by `sockets`, and all requests once the service is elsewhere.
 */
export class PortDispatcher implements Connections {
  readonly #sockets: Pool
  readonly #whereabouts: Whereabouts
  readonly #open = new Map<number, Upload>()
  /** Numbers of uploads for the next message. */
  #turn: number[] = []
  #lastNumber = 0
  #port: MessagePort | undefined
  /** The service takes no more uploads by `#port`. */
  #isLeft = false
  #onIdle = () => {}

  constructor(sockets: Pool, whereabouts: Whereabouts) {
    this.#sockets = sockets
    this.#whereabouts = whereabouts
  }

  get destroyed(): boolean {
    return this.#sockets.destroyed
  }

  async close(): Promise<void> {
    await this.#sockets.close()
    if (this.#open.size > 0) await new Promise<void>((resolve) => (this.#onIdle = resolve))
  }

  async destroy(): Promise<void> {
    const isDestroyed = this.#sockets.destroy()
    this.#failAll(() => true, new UploadCutOff('UND_ERR_DESTROYED'))
    await isDestroyed
  }

  dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
    const { method, path, body } = options
    const library = method === METHOD && Buffer.isBuffer(body) ? UPLOAD.exec(path)?.[1] : undefined
    const port = library === undefined || this.#sockets.closed || this.#sockets.destroyed ? undefined : this.#findPort()
    if (!port || library === undefined || !Buffer.isBuffer(body)) return this.#sockets.dispatch(options, handler)
    this.#lastNumber += 1
    const number = this.#lastNumber
    const controller: Dispatcher.DispatchController = {
      aborted: false,
      paused: false,
      reason: null,
      abort: (reason) => void (this.#take(number) && handler.onResponseError?.(controller, reason)),
      pause() {},
      resume() {},
    }
    this.#open.set(number, { port, library, options, body, handler, controller })
    port.ref()
    if (this.#turn.push(number) === 1) queueMicrotask(() => this.#post(port))
    return true
  }

  #findPort(): MessagePort | undefined {
    const { uploadPort: port } = this.#whereabouts
    // Uploads that were gathered for the next message still go to the port before.
    if (port !== this.#port && this.#turn.length > 0) return undefined
    if (port && port !== this.#port) {
      port.on('message', (answers: PortAnswers) => this.#onAnswers(port, answers))
      port.on('close', () => this.#failAll((upload) => upload.port === port, new UploadCutOff('ECONNRESET')))
      this.#isLeft = false
    }
    this.#port = port
    return this.#isLeft ? undefined : port
  }

  /** Leaves out an upload that was aborted meanwhile, or whose fence is closed: the announcement of its start ends it. */
  #post(port: MessagePort): void {
    const numbers = this.#turn.splice(0)
    for (const number of numbers) {
      const upload = this.#open.get(number)
      upload?.handler.onRequestStart?.(upload.controller, {})
    }
    const sent = numbers.flatMap((number) => {
      const upload = this.#open.get(number)
      return upload ? [{ ...upload, number }] : []
    })
    port.postMessage(...messageOf(sent))
    for (const { handler, body } of sent) {
      handler.onBodySent?.(body)
      handler.onRequestSent?.()
    }
  }

  #onAnswers(port: MessagePort, { answers, lastTaken }: PortAnswers): void {
    for (const { number, status, body } of answers) {
      const { handler, controller } = this.#take(number) ?? {}
      if (!controller) continue
      handler?.onResponseStart?.(controller, status, ANSWER_HEADERS)
      handler?.onResponseData?.(controller, Buffer.from(body))
      handler?.onResponseEnd?.(controller, {})
    }
    if (lastTaken === undefined) return
    if (port === this.#port) this.#isLeft = true
    for (const [number, { options, handler }] of this.#list((upload) => upload.port === port)) {
      if (number > lastTaken && this.#take(number)) this.#sockets.dispatch(options, handler)
    }
  }

  #failAll(isMeant: (upload: Upload) => boolean, error: Error): void {
    for (const [, { controller }] of this.#list(isMeant)) controller.abort(error)
  }

  #list(isMeant: (upload: Upload) => boolean): [number, Upload][] {
    return [...this.#open].filter(([, upload]) => isMeant(upload))
  }

  #take(number: number): Upload | undefined {
    const upload = this.#open.get(number)
    this.#open.delete(number)
    if (this.#open.size === 0) {
      this.#port?.unref()
      this.#onIdle()
    }
    return upload
  }
}

/** Has the error code that a broken socket would give. */
class UploadCutOff extends Error {
  readonly code: string

  constructor(code: 'ECONNRESET' | 'UND_ERR_DESTROYED') {
    super('the port is closed')
    this.code = code
  }
}

function messageOf(sent: readonly (Upload & { readonly number: number })[]): [PortUploads, ArrayBuffer[]] {
  const bytes = new Uint8Array(sent.reduce((sum, { body }) => sum + body.length, 0))
  let end = 0
  const uploads = sent.map(({ number, library, options, body }) => {
    const start = end
    end += body.length
    bytes.set(body, start)
    const authorization = headerOf(options, 'authorization')
    return { number, library, authorization, contentType: headerOf(options, 'content-type'), start, end }
  })
  return [{ uploads, bytes }, [bytes.buffer]]
}

/** The transport gives headers as a list of names and values. */
function headerOf({ headers }: Dispatcher.DispatchOptions, name: string): string {
  return Array.isArray(headers) ? (headers[headers.indexOf(name) + 1] ?? '') : ''
}
