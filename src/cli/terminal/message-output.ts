import { escapeLines, escapeText } from '../../foundation/text/safe-text.ts'
import type { Palette } from './palette.ts'

/** Moves to the start of the line and clears it. */
const CLEAR = '\r\x1b[2K'
/** Cuts lines at the width of the terminal, because redrawing cannot clear a wrapped line. */
const UNWRAPPED = ['\x1b[?7l', '\x1b[?7h'] as const

/**
 * Writes all messages of a command to stderr: whole lines and, on a terminal, one line below them that is redrawn in place.
 * One writer for both, so that a message never appears in the middle of the redrawn line.
 */
export class MessageOutput {
  readonly #stream: NodeJS.WritableStream
  readonly #palette: Palette
  #drawn = ''

  constructor(stream: NodeJS.WritableStream, palette: Palette) {
    this.#stream = stream
    this.#palette = palette
  }

  /** Columns of the terminal. */
  get width(): number {
    const stream = this.#stream
    return 'columns' in stream && typeof stream.columns === 'number' && stream.columns > 0 ? stream.columns : 80
  }

  /** Writes lines, each with its line end. */
  write(lines: string): void {
    const safe = this.#palette.line(escapeLines(lines))
    this.#stream.write(this.#drawn === '' ? safe : `${CLEAR}${safe}${this.#drawn}`)
  }

  /** Replaces the drawn line by `line` (without line end). */
  draw(line: string): void {
    this.#drawn = `${UNWRAPPED[0]}${this.#palette.progress(escapeText(line))}${UNWRAPPED[1]}`
    this.#stream.write(`${CLEAR}${this.#drawn}`)
  }

  /** Removes the drawn line. */
  clear(): void {
    if (this.#drawn !== '') this.#stream.write(CLEAR)
    this.#drawn = ''
  }
}
