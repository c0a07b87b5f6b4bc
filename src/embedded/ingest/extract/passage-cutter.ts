import type { Passage, TraceUnit } from '../../database/tables/passages.ts'

/** Where a text stands in its source, and what a cut text becomes. */
export type Place = Omit<Passage, 'text'>

/** Cuts a text whose place is known as a whole (a page, a slide, a row) into passages. */
export function cutInto(text: string, place: Place, { take }: { take(passage: Passage): void }): void {
  const cutter = new PassageCutter('line', (piece) => take({ ...place, text: piece.text }))
  cutter.write(text)
  cutter.end()
}

const TARGET_LENGTH = 2_000
const MAX_LENGTH = 2_400

/** Cuts text that arrives in pieces into passages of about 2,000 characters, between paragraphs or lines where possible. */
export class PassageCutter {
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
