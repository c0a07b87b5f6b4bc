import type { Passage, TraceDetail, TraceUnit } from '../../database/passages-table.ts'
import type { ExtractionSink } from './extraction.ts'

/** The position of a text in its source. */
type TextPosition = Omit<Passage, 'text'>

/** Emits the text of one page, slide or row as passages, all with the same position. */
export function splitInto(text: string, position: TextPosition, sink: Pick<ExtractionSink, 'emit'>): void {
  const splitter = new PassageSplitter('line', (piece) => sink.emit({ ...position, text: piece.text }))
  splitter.write(text)
  splitter.end()
}

const TARGET_LENGTH = 2_000
const MAX_LENGTH = 2_400

/** Cuts text that arrives in pieces into passages of about 2,000 characters, between paragraphs or lines where possible. */
export class PassageSplitter {
  readonly #unit: TraceUnit
  readonly #emit: (passage: Passage) => void
  #pending = ''
  #line = 1

  constructor(unit: TraceUnit, emit: (passage: Passage) => void) {
    this.#unit = unit
    this.#emit = emit
  }

  write(text: string): void {
    this.#pending += text
    let start = 0
    while (this.#pending.length - start > MAX_LENGTH) {
      const end = start + cutLength(this.#pending.slice(start, start + MAX_LENGTH))
      this.#cut(this.#pending.slice(start, end))
      start = end
    }
    this.#pending = this.#pending.slice(start)
  }

  end(): void {
    this.#cut(this.#pending)
    this.#pending = ''
  }

  #cut(text: string): void {
    const firstUnit = this.#line
    this.#line += text.split('\n').length - 1
    const lastUnit = text.endsWith('\n') ? this.#line - 1 : this.#line
    if (/\S/.test(text)) this.#emit({ text: text.trimEnd(), unit: this.#unit, firstUnit, lastUnit })
  }
}

/** Returns the length of the next passage, which ends after a paragraph, line or word if possible, and never within a character. */
function cutLength(text: string): number {
  for (const border of ['\n\n', '\n', ' ']) {
    const found = text.lastIndexOf(border)
    if (found >= TARGET_LENGTH / 2) return found + border.length
  }
  return /[\ud800-\udbff]$/.test(text) ? text.length - 1 : text.length
}

/** Joins numbered pieces of text, such as rows, into passages of about 2,000 characters, each with its first and last number. */
export class PieceJoiner {
  readonly #unit: TraceUnit
  readonly #separator: string
  readonly #sink: Pick<ExtractionSink, 'emit'>
  #pieces: string[] = []
  #length = 0
  #first = 0
  #last = 0
  #detail: TraceDetail | undefined

  constructor(unit: TraceUnit, separator: string, sink: Pick<ExtractionSink, 'emit'>) {
    this.#unit = unit
    this.#separator = separator
    this.#sink = sink
  }

  /** Adds a piece with the numbers `number` to `last`; `number` must not decrease. Another `detail` object begins a new passage. */
  add(text: string, number: number, detail?: TraceDetail, last = number): void {
    if (this.#length + text.length > TARGET_LENGTH || detail !== this.#detail) this.end()
    if (this.#pieces.length === 0) this.#first = number
    this.#detail = detail
    this.#last = this.#pieces.length === 0 ? last : Math.max(this.#last, last)
    this.#length += text.length
    this.#pieces.push(text)
  }

  end(): void {
    const text = this.#pieces.join(this.#separator)
    this.#pieces = []
    this.#length = 0
    const position = { unit: this.#unit, firstUnit: this.#first, lastUnit: this.#last, detail: this.#detail }
    splitInto(text, position, this.#sink)
  }
}
