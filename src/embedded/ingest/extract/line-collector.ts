/** A line is given on in pieces of about this length, so that one without an end takes no memory. */
const PIECE_LENGTH = 8 * 1024

/** Gathers the words of one line after the other, each run of white space as one blank, and leaves empty lines out. */
export class LineCollector {
  readonly #onText: (text: string) => void
  #rest = ''
  #hasBegun = false

  constructor(onText: (text: string) => void) {
    this.#onText = onText
  }

  add(text: string): void {
    this.#rest += text
    if (this.#rest.length >= PIECE_LENGTH) this.#onText(this.#takeWords())
  }

  end(): void {
    const words = this.#takeWords()
    if (this.#hasBegun) this.#onText(`${words}\n`)
    this.#rest = ''
    this.#hasBegun = false
  }

  /** What has gathered; a blank at its end stays, since it may be the last of the line. */
  #takeWords(): string {
    const joined = this.#rest.replace(/\s+/g, ' ')
    const words = this.#hasBegun ? joined.trimEnd() : joined.trim()
    this.#rest = joined.endsWith(' ') ? ' ' : ''
    if (words !== '') this.#hasBegun = true
    return words
  }
}
