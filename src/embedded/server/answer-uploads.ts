import type { MessagePort } from 'node:worker_threads'
import { ROUTES } from '../../contract/routes.ts'
import type { PortAnswer, PortAnswers, PortUpload, PortUploads } from '../../contract/upload-port.ts'
import { admitToken } from '../http/endpoint.ts'
import { receiveUpload } from '../routes/upload-file.ts'
import type { Service } from '../service-parts.ts'
import { errorBody, explainError } from './error-responses.ts'

const { method, path: route } = ROUTES.uploadFile

/** Answers the uploads that another thread of this process sends through a message port instead of a socket. */
export class UploadAnswers {
  readonly #port: MessagePort
  readonly #service: Service
  readonly #ended = Promise.withResolvers<void>()
  #isClosing = false
  #lastTaken = 0
  #underWay = 0
  /** Answers that wait for the end of this turn of the event loop, to share a message. */
  #answers: PortAnswer[] = []

  constructor(port: MessagePort, service: Service) {
    this.#port = port
    this.#service = service
    port.on('message', this.#onUploads)
  }

  /** Stops taking uploads, and resolves when all that it took are answered. */
  async close(): Promise<void> {
    this.#isClosing = true
    this.#port.off('message', this.#onUploads)
    if (this.#underWay === 0) this.closeNow()
    await this.#ended.promise
  }

  /** Closes the port without waiting for unfinished uploads; `close` then resolves. */
  closeNow(): void {
    this.#port.postMessage({ answers: this.#answers, lastTaken: this.#lastTaken } satisfies PortAnswers)
    this.#answers = []
    this.#port.close()
    this.#ended.resolve()
  }

  readonly #onUploads = ({ uploads, bytes }: PortUploads): void => {
    const all = Buffer.from(bytes.buffer)
    for (const upload of uploads) void this.#answer(upload, all.subarray(upload.start, upload.end))
  }

  async #answer(upload: PortUpload, body: Buffer): Promise<void> {
    this.#lastTaken = upload.number
    this.#underWay += 1
    const { status, answer } = await this.#receive(upload, body)
    this.#underWay -= 1
    if (this.#answers.push({ number: upload.number, status, body: JSON.stringify(answer) }) === 1) {
      queueMicrotask(this.#post)
    }
    if (this.#isClosing && this.#underWay === 0) this.closeNow()
  }

  async #receive({ library, authorization, contentType }: PortUpload, body: Buffer) {
    const service = this.#service
    try {
      const grant = admitToken(service, authorization)
      return await receiveUpload({ service, grant, id: () => library }, { 'content-type': contentType }, body)
    } catch (error) {
      const refusal = explainError(error, service.logger, { method, route })
      return { status: refusal.status, answer: errorBody(refusal) }
    }
  }

  readonly #post = (): void => {
    if (this.#answers.length > 0) this.#port.postMessage({ answers: this.#answers } satisfies PortAnswers)
    this.#answers = []
  }
}
