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
    if (this.#characters < PIECE_CHARACTERS) return
    this.#send({})
    this.#wait = Promise.withResolvers()
    await this.#wait.promise
  }

  /** Takes the parent's answer to the last piece. */
  answer(kind: Exclude<ChildRequest['kind'], 'extract'>): void {
    if (kind === 'continue') this.#wait?.resolve()
    else this.#wait?.reject(new DroppedError())
  }

  finish(end: ExtractionEnd): void {
    this.#send({ end: { ...end, warnings: [...end.warnings] } })
  }

  #send(last: Pick<PieceMessage, 'end'>): void {
    this.#sendToParent({ kind: 'piece', id: this.#id, isRestart: this.#isRestart, passages: this.#passages, ...last })
    this.#passages = []
    this.#characters = 0
    this.#isRestart = false
  }
}
