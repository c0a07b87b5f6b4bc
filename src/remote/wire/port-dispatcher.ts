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
 * Sends an upload that is one buffer through the message port of a service in a thread of this process, together with others of the same
 * turn of the event loop. All other requests go through `sockets`, and so do all requests once the service has left this process.
 */
export class PortDispatcher implements Connections {
  readonly #sockets: Pool
  readonly #whereabouts: Whereabouts
  readonly #open = new Map<number, Upload>()
  /** Numbers of the uploads that the next message will contain. */
  #nextMessage: number[] = []
  #lastNumber = 0
  #port: MessagePort | undefined
  /** True once the service accepts no more uploads through `#port`. */
  #isPortClosed = false
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
      abort: (reason) => void (this.#remove(number) && handler.onResponseError?.(controller, reason)),
      pause() {},
      resume() {},
    }
    this.#open.set(number, { port, library, options, body, handler, controller })
    port.ref()
    if (this.#nextMessage.push(number) === 1) queueMicrotask(() => this.#post(port))
    return true
  }

  #findPort(): MessagePort | undefined {
    const { uploadPort: port } = this.#whereabouts
    // Uploads that were gathered for the next message still go to the previous port.
    if (port !== this.#port && this.#nextMessage.length > 0) return undefined
    if (port && port !== this.#port) {
      port.on('message', (answers: PortAnswers) => this.#onAnswers(port, answers))
      port.on('close', () => this.#failAll((upload) => upload.port === port, new UploadCutOff('ECONNRESET')))
      this.#isPortClosed = false
    }
    this.#port = port
    return this.#isPortClosed ? undefined : port
  }

  /** Sends the next message. `onRequestStart` ends an upload that was aborted or whose fence is closed, so that it is left out. */
  #post(port: MessagePort): void {
    const numbers = this.#nextMessage.splice(0)
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
      const { handler, controller } = this.#remove(number) ?? {}
      if (!controller) continue
      handler?.onResponseStart?.(controller, status, ANSWER_HEADERS)
      handler?.onResponseData?.(controller, Buffer.from(body))
      handler?.onResponseEnd?.(controller, {})
    }
    if (lastTaken === undefined) return
    if (port === this.#port) this.#isPortClosed = true
    for (const [number, { options, handler }] of this.#list((upload) => upload.port === port)) {
      if (number > lastTaken && this.#remove(number)) this.#sockets.dispatch(options, handler)
    }
  }

  #failAll(matches: (upload: Upload) => boolean, error: Error): void {
    for (const [, { controller }] of this.#list(matches)) controller.abort(error)
  }

  #list(matches: (upload: Upload) => boolean): [number, Upload][] {
    return [...this.#open].filter(([, upload]) => matches(upload))
  }

  #remove(number: number): Upload | undefined {
    const upload = this.#open.get(number)
    this.#open.delete(number)
    if (this.#open.size === 0) {
      this.#port?.unref()
      this.#onIdle()
    }
    return upload
  }
}

/** Thrown if the port closes; `code` is the one that a broken socket would give. */
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

/** Returns the value of a header; the transport passes headers as a list of names and values. */
function headerOf({ headers }: Dispatcher.DispatchOptions, name: string): string {
  return Array.isArray(headers) ? (headers[headers.indexOf(name) + 1] ?? '') : ''
}
