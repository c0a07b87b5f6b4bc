import type { Passage, TraceDetail, TraceUnit } from '../../database/passages-table.ts'

/** The place of a text in its source. */
type Place = Omit<Passage, 'text'>

/** Cuts a text whose place is known as a whole (a page, a slide, a row) into passages. */
export function splitInto(text: string, place: Place, { take }: { take(passage: Passage): void }): void {
  const splitter = new PassageSplitter('line', (piece) => take({ ...place, text: piece.text }))
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
    this.#line += countLineBreaks(text)
    const lastUnit = text.endsWith('\n') ? this.#line - 1 : this.#line
    if (/\S/.test(text)) this.#emit({ text: text.trimEnd(), unit: this.#unit, firstUnit, lastUnit })
  }
}

/** The length of the next passage: up to the last paragraph, line or word near the target, never inside a character. */
function cutLength(text: string): number {
  for (const border of ['\n\n', '\n', ' ']) {
    const found = text.lastIndexOf(border)
    if (found >= TARGET_LENGTH / 2) return found + border.length
  }
  return /[\ud800-\udbff]$/.test(text) ? text.length - 1 : text.length
}

function countLineBreaks(text: string): number {
  let count = 0
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) count += 1
  return count
}

/** Gathers numbered pieces of text (paragraphs, rows) into passages of about 2,000 characters, which name their first and last place. */
export class PlaceSplitter {
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
    splitInto(text, place, this.#sink)
  }

  #place() {
    return { unit: this.#unit, firstUnit: this.#first, lastUnit: this.#last, detail: this.#detail }
  }
}
