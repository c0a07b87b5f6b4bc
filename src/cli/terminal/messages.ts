import { escapeLines, escapeText } from '../../foundation/text/safe-text.ts'
import type { Palette } from './palette.ts'

const CLEAR = '\r\x1b[2K'
/** Cuts lines at the width of the terminal, because redrawing cannot clear a wrapped line. */
const UNWRAPPED = ['\x1b[?7l', '\x1b[?7h'] as const

/** Writes whole lines, and redraws one line below them, so that a message never appears inside the redrawn line. */
export class MessageOutput {
  readonly #stream: NodeJS.WritableStream
  readonly #palette: Palette
  #drawn = ''

  constructor(stream: NodeJS.WritableStream, palette: Palette) {
    this.#stream = stream
    this.#palette = palette
  }

  get width(): number {
    const stream = this.#stream
    return 'columns' in stream && typeof stream.columns === 'number' && stream.columns > 0 ? stream.columns : 80
  }

  write(lines: string, style: 'line' | 'quiet' = 'line'): void {
    const safe = this.#palette[style](escapeLines(lines))
    this.#stream.write(this.#drawn === '' ? safe : `${CLEAR}${safe}${this.#drawn}`)
  }

  /** Replaces the drawn line by `line` (without line end). */
  draw(line: string): void {
    this.#drawn = `${UNWRAPPED[0]}${this.#palette.progress(escapeText(line))}${UNWRAPPED[1]}`
    this.#stream.write(`${CLEAR}${this.#drawn}`)
  }

  clear(): void {
    if (this.#drawn !== '') this.#stream.write(CLEAR)
    this.#drawn = ''
  }
}

/** Shorter waits are not shown. */
const SHOWN_AFTER_MS = 1_000
const REDRAW_MS = 200

/** Shows what the program waits for, from one second after `begin` until `end`. */
export class WaitingLine {
  readonly #messages: MessageOutput
  readonly #isShown: boolean
  #timer: NodeJS.Timeout | undefined

  constructor(messages: MessageOutput, isShown: boolean) {
    this.#messages = messages
    this.#isShown = isShown
  }

  /** `what` names the activity and its object: `waiting for https://library.example.com`. */
  begin(what: string): void {
    this.end()
    if (!this.#isShown) return
    const startMs = performance.now()
    const show = () => {
      const elapsedMs = performance.now() - startMs
      if (elapsedMs >= SHOWN_AFTER_MS) this.#messages.draw(`${what} … ${Math.floor(elapsedMs / 1_000)} s`)
    }
    this.#timer = setInterval(show, REDRAW_MS).unref()
  }

  end(): void {
    if (!this.#timer) return
    clearInterval(this.#timer)
    this.#timer = undefined
    this.#messages.clear()
  }
}
