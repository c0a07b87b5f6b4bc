import { Tokenizer, type TokenizerCallbacks } from 'htmlparser2'
import { HiddenElements } from './hidden-elements.ts'
import { LineCollector } from './line-collector.ts'

const INLINE = new Set(
  'a abbr b bdi bdo cite code data dfn em font i kbd mark q s samp small span strong sub sup time tt u var wbr'.split(
    ' ',
  ),
)

/** The marks of headings in Markdown. */
const HEADING_MARKS: Readonly<Record<string, string>> = {
  title: '# ',
  ...Object.fromEntries([1, 2, 3, 4, 5, 6].map((level) => [`h${level}`, `${'#'.repeat(level)} `])),
}

/**
 * Emits the visible text of HTML that arrives in pieces: its title first, then a line for each block, headings as in Markdown. Uses the parser's tokenizer
 * only, because the parser lists all open elements, at a cost that grows with the square of their depth.
 */
export class HtmlTextReader {
  readonly #tokenizer: Tokenizer
  readonly #source = new RecentText()
  readonly #hidden = new HiddenElements()
  readonly #line: LineCollector
  #opened = ''

  constructor(onText: (text: string) => void) {
    this.#line = new LineCollector(onText)
    this.#tokenizer = new Tokenizer({}, this.#callbacks())
  }

  write(html: string): void {
    if (html === '') return
    this.#source.add(html)
    this.#tokenizer.write(html)
  }

  end(): void {
    this.#tokenizer.end()
    this.#line.end()
  }

  #callbacks(): TokenizerCallbacks {
    return {
      ontext: (start, end) => this.#take(this.#source.slice(start, end)),
      ontextentity: (codePoint) => this.#take(String.fromCodePoint(codePoint)),
      onopentagname: (start, end) => {
        this.#opened = this.#source.slice(start, end).toLowerCase()
        this.#hidden.open(this.#opened)
        this.#breakAt(this.#opened, HEADING_MARKS[this.#opened])
      },
      onclosetag: (start, end) => {
        const name = this.#source.slice(start, end).toLowerCase()
        this.#hidden.close(name)
        this.#breakAt(name)
      },
      onselfclosingtag: () => {
        if (this.#hidden.isForeign) this.#hidden.close(this.#opened)
      },
      isInForeignContext: () => this.#hidden.isForeign,
      onopentagend: ignore,
      onattribname: ignore,
      onattribdata: ignore,
      onattribentity: ignore,
      onattribend: ignore,
      oncdata: ignore,
      oncomment: ignore,
      ondeclaration: ignore,
      onprocessinginstruction: ignore,
      onend: ignore,
    }
  }

  #take(text: string): void {
    if (!this.#hidden.isHidden) this.#line.add(text)
  }

  #breakAt(name: string, mark = ''): void {
    if (!INLINE.has(name)) this.#line.begin(mark)
  }
}

function ignore(): void {}

/** The size of one chunk of a file. */
const KEPT_LENGTH = 64 * 1024

/**
 * The last piece of a text and the end of the pieces before it, addressed by positions in the whole text. If a tag is longer than
 * KEPT_LENGTH, its beginning is lost and `slice` leaves it out.
 */
class RecentText {
  #before = ''
  #last = ''
  #lastStart = 0

  add(piece: string): void {
    this.#lastStart += this.#last.length
    this.#before = (this.#before + this.#last).slice(-KEPT_LENGTH)
    this.#last = piece
  }

  slice(start: number, end: number): string {
    const from = start - this.#lastStart
    const to = end - this.#lastStart
    if (from >= 0) return this.#last.slice(from, to)
    const length = this.#before.length
    return (
      this.#before.slice(Math.max(0, length + from), Math.max(0, length + Math.min(0, to))) +
      this.#last.slice(0, Math.max(0, to))
    )
  }
}
