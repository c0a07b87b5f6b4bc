import type { MessagePort } from 'node:worker_threads'
import { ROUTES } from '../../contract/routes.ts'
import type { PortAnswer, PortAnswers, PortUpload, PortUploads } from '../../contract/upload-port.ts'
import { admitToken } from '../http/endpoint.ts'
import { takeUpload } from '../routes/upload-file.ts'
import type { Service } from '../service-parts.ts'
import { errorBody, explainError } from './error-responses.ts'

const { method, path: route } = ROUTES.uploadFile

/** Answers uploads of the thread that started this one, which come by a message port in place of a socket. */
export class UploadAnswers {
  readonly #port: MessagePort
  readonly #service: Service
  readonly #ended = Promise.withResolvers<void>()
  #isClosing = false
  #lastTaken = 0
  #underWay = 0
  /** Answers of one turn of the event loop share a message. */
  #answers: PortAnswer[] = []

  constructor(port: MessagePort, service: Service) {
    this.#port = port
    this.#service = service
    port.on('message', this.#onUploads)
  }

  /** Takes no more uploads, and waits until those that were taken are answered. */
  async close(): Promise<void> {
    this.#isClosing = true
    this.#port.off('message', this.#onUploads)
    if (this.#underWay === 0) this.giveUp()
    await this.#ended.promise
  }

  /** Ends `close` at once, whatever is not answered yet. */
  giveUp(): void {
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
    const { status, answer } = await this.#take(upload, body)
    this.#underWay -= 1
    if (this.#answers.push({ number: upload.number, status, body: JSON.stringify(answer) }) === 1) {
      queueMicrotask(this.#post)
    }
    if (this.#isClosing && this.#underWay === 0) this.giveUp()
  }

  async #take({ library, authorization, contentType }: PortUpload, body: Buffer) {
    const service = this.#service
    try {
      const grant = admitToken(service, authorization)
      return await takeUpload({ service, grant, id: () => library }, { 'content-type': contentType }, body)
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
