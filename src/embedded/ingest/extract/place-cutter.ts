import type { Passage, TraceDetail, TraceUnit } from '../../database/tables/passages.ts'
import { cutInto } from './passage-cutter.ts'

const TARGET_LENGTH = 2_000

/** Gathers numbered pieces of text (paragraphs, rows) into passages of about 2,000 characters, which name their first and last place. */
export class PlaceCutter {
  readonly #unit: TraceUnit
  readonly #separator: string
  readonly #sink: { take(passage: Passage): void }
  #pieces: string[] = []
  #length = 0
  #first = 0
  #last = 0
  #detail: TraceDetail | undefined

  constructor(unit: TraceUnit, separator: string, sink: { take(passage: Passage): void }) {
    this.#unit = unit
    this.#separator = separator
    this.#sink = sink
  }

  /** From `number` to `last`; numbers grow. Pieces with another detail never share a passage. */
  add(text: string, number: number, detail?: TraceDetail, last = number): void {
    if (this.#length + text.length > TARGET_LENGTH || detail !== this.#detail) this.end()
    if (this.#pieces.length === 0) this.#first = number
    this.#detail = detail
    this.#last = this.#pieces.length === 0 ? last : Math.max(this.#last, last)
    this.#length += text.length
    this.#pieces.push(text)
  }

  end(): void {
    const { text, place } = { text: this.#pieces.join(this.#separator), place: this.#place() }
    this.#pieces = []
    this.#length = 0
    cutInto(text, place, this.#sink)
  }

  #place() {
    return { unit: this.#unit, firstUnit: this.#first, lastUnit: this.#last, detail: this.#detail }
  }
}
