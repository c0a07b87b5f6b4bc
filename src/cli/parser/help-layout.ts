import { wrapText } from '../render/layout.ts'

interface Cell {
  readonly text: string
  /** Top, right, bottom, left. */
  readonly padding?: readonly number[]
  /** Width with padding. */
  readonly width?: number
}

/**
 * Lays out the parts of yargs' help text in rows of one or two cells. A first cell that is too long for its column is not
 * wrapped, since examples are meant to be copied; the second cell then goes below it.
 */
export class HelpLayout {
  readonly #width: number
  readonly #rows: string[] = []
  #isOpen = false

  /** `width`: the most characters in a line. */
  constructor(width: number) {
    this.#width = width
  }

  div(...cells: readonly (Cell | string)[]): void {
    const closes = this.#isOpen && cells.length === 0
    this.#isOpen = false
    if (!closes) this.#rows.push(this.#render(cells))
  }

  /** A row that the next `div()` closes. */
  span(...cells: readonly (Cell | string)[]): void {
    this.#rows.push(this.#render(cells))
    this.#isOpen = true
  }

  toString(): string {
    return this.#rows.join('\n')
  }

  #render([first = '', second]: readonly (Cell | string)[]): string {
    if (typeof first === 'string')
      return first
        .split('\n')
        .map((line) => this.#fillLine(line))
        .join('\n')
    const [above = 0, , , indent = 0] = first.padding ?? []
    const start = '\n'.repeat(above) + ' '.repeat(indent)
    if (second === undefined) return start + wrapText(first.text, this.#width, indent)
    const column = first.width ?? 0
    const end = indent + first.text.length
    const gap = end + 2 <= column ? ' '.repeat(column - end) : `\n${' '.repeat(column)}`
    return `${start}${first.text}${gap}${wrapText(typeof second === 'string' ? second : second.text, this.#width, column)}`.trimEnd()
  }

  /** Wraps a line with its own indentation and perhaps a short first column; further lines are aligned with its text. */
  #fillLine(line: string): string {
    const start = /^\s*(?:\S+\s{2,})?/.exec(line)?.[0] ?? ''
    return `${start}${wrapText(line.slice(start.length), this.#width, start.length)}`.trimEnd()
  }
}
