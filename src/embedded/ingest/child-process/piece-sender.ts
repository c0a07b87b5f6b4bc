import type { Passage } from '../../database/tables/passages.ts'
import type { ExtractionEnd, ExtractionSink } from '../extract/extraction.ts'
import type { ChildRequest, PieceMessage } from './child-messages.ts'

const PIECE_CHARACTERS = 256 * 1024

/** The parent needs no more of the document. */
class DroppedError extends Error {}

/** Sends the passages of one document in pieces; waits for the parent's answer to each piece before it sends the next. */
export class PieceSender implements ExtractionSink {
  readonly #id: number
  readonly #sendToParent: (piece: PieceMessage) => void
  #passages: Passage[] = []
  #characters = 0
  #isRestart = false
  #wait: PromiseWithResolvers<void> | undefined

  constructor(id: number, sendToParent: (piece: PieceMessage) => void) {
    this.#id = id
    this.#sendToParent = sendToParent
  }

  restart(): void {
    this.#passages = []
    this.#characters = 0
    this.#isRestart = true
  }

  take(passage: Passage): void {
    this.#passages.push(passage)
    this.#characters += passage.text.length
  }

  async drain(): Promise<void> {
    if (this.#characters >= PIECE_CHARACTERS) await this.#sendAndWait(false)
  }

  async nextPart(): Promise<void> {
    await this.#sendAndWait(true)
  }

  /** Takes the parent's answer to the last piece. */
  answer(kind: Exclude<ChildRequest['kind'], 'extract'>): void {
    if (kind === 'continue') this.#wait?.resolve()
    else this.#wait?.reject(new DroppedError())
  }

  finish(end: ExtractionEnd): void {
    this.#send({ end: { ...end, warnings: [...end.warnings] } })
  }

  async #sendAndWait(isPart: boolean): Promise<void> {
    this.#wait = Promise.withResolvers()
    this.#send({ isPart })
    await this.#wait.promise
  }

  #send(more: Partial<Pick<PieceMessage, 'end' | 'isPart'>>): void {
    const piece = { isRestart: this.#isRestart, isPart: false, passages: this.#passages, ...more }
    this.#sendToParent({ kind: 'piece', id: this.#id, ...piece })
    this.#passages = []
    this.#characters = 0
    this.#isRestart = false
  }
}
