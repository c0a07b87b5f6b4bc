import { escapeLines, escapeText } from '../foundation/text.ts'

/** Goes to the start of the line and clears it. */
const CLEAR = '\r\x1b[2K'
/** A line that is wider than the terminal is cut instead of wrapped, which no redrawing could clear. */
const UNWRAPPED = ['\x1b[?7l', '\x1b[?7h'] as const

/**
 * Everything a command tells on stderr: whole lines, and on a terminal one line below them that is redrawn in its place.
 * One writer for both, so that a message never lands in the middle of the redrawn line.
 */
export class MessageOutput {
  readonly #stream: NodeJS.WritableStream
  #drawn = ''

  constructor(stream: NodeJS.WritableStream) {
    this.#stream = stream
  }

  /** Columns of the terminal. */
  get width(): number {
    const stream = this.#stream
    return 'columns' in stream && typeof stream.columns === 'number' && stream.columns > 0 ? stream.columns : 80
  }

  /** Writes lines, each with its line end. */
  write(lines: string): void {
    const safe = escapeLines(lines)
    this.#stream.write(this.#drawn === '' ? safe : `${CLEAR}${safe}${this.#drawn}`)
  }

  /** Shows `line` (without line end) instead of what was drawn before. */
  draw(line: string): void {
    this.#drawn = `${UNWRAPPED[0]}${escapeText(line)}${UNWRAPPED[1]}`
    this.#stream.write(`${CLEAR}${this.#drawn}`)
  }

  /** Takes the drawn line away. */
  clear(): void {
    if (this.#drawn !== '') this.#stream.write(CLEAR)
    this.#drawn = ''
  }
}
