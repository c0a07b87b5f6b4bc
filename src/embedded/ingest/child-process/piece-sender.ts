import type { Passage } from '../../database/tables/passages.ts'
import type { ExtractionEnd, ExtractionSink } from '../extract/extract-text.ts'
import type { ChildRequest, PieceMessage } from './child-messages.ts'

const PIECE_CHARACTERS = 256 * 1024

/** The parent does not want the rest of the document. */
class DroppedError extends Error {}

/** Sends the passages of one document in pieces, each when the one before was taken. */
export class PieceSender implements ExtractionSink {
  readonly #id: number
  readonly #tell: (piece: PieceMessage) => void
  #passages: Passage[] = []
  #characters = 0
  #isRestart = false
  #wait: PromiseWithResolvers<void> | undefined

  constructor(id: number, tell: (piece: PieceMessage) => void) {
    this.#id = id
    this.#tell = tell
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

  /** What the parent says to the last piece. */
  answer(kind: Exclude<ChildRequest['kind'], 'extract'>): void {
    if (kind === 'go-on') this.#wait?.resolve()
    else this.#wait?.reject(new DroppedError())
  }

  finish(end: ExtractionEnd): void {
    this.#send({ end: { ...end, warnings: [...end.warnings] } })
  }

  #send(last: Pick<PieceMessage, 'end'>): void {
    this.#tell({ kind: 'piece', id: this.#id, isRestart: this.#isRestart, passages: this.#passages, ...last })
    this.#passages = []
    this.#characters = 0
    this.#isRestart = false
  }
}
