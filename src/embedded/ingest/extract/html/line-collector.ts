/** A line is emitted in pieces of about this length, so that an endless line takes no memory. */
const PIECE_LENGTH = 8 * 1024

/** Collects the words of one line after the other, turns each run of white space into one blank, and drops empty lines. */
export class LineCollector {
  readonly #onText: (text: string) => void
  #rest = ''
  #mark = ''
  #hasBegun = false

  constructor(onText: (text: string) => void) {
    this.#onText = onText
  }

  add(text: string): void {
    this.#rest += text
    if (this.#rest.length >= PIECE_LENGTH) this.#onText(this.#takeWords())
  }

  /** Ends the line; if words follow, the next one begins with this mark. */
  begin(mark: string): void {
    this.end()
    this.#mark = mark
  }

  end(): void {
    const words = this.#takeWords()
    if (this.#hasBegun) this.#onText(`${words}\n`)
    this.#rest = ''
    this.#mark = ''
    this.#hasBegun = false
  }

  /** Takes the collected words but keeps a blank at their end, which is dropped if the line ends there. */
  #takeWords(): string {
    const joined = this.#rest.replace(/\s+/g, ' ')
    const words = this.#hasBegun ? joined.trimEnd() : joined.trim()
    this.#rest = joined.endsWith(' ') ? ' ' : ''
    const begins = words !== '' && !this.#hasBegun
    if (begins) this.#hasBegun = true
    return begins ? this.#mark + words : words
  }
}
