import { Tokenizer, type TokenizerCallbacks } from 'htmlparser2'
import { withoutControls } from './seen-text.ts'

const INLINE = new Set(
  'a abbr acronym b bdi bdo big cite code data del dfn em font i ins kbd mark nobr q rb rp rt rtc ruby s samp small strike span strong sub sup time tspan tt u var wbr'.split(
    ' ',
  ),
)

/** Attributes that viewers show as text; of a hidden or secret field none. */
const SHOWN: Readonly<Record<string, readonly string[]>> = {
  ...{ img: ['alt'], area: ['alt'], input: ['value', 'placeholder', 'alt'], textarea: ['placeholder'] },
  ...{ option: ['label'], optgroup: ['label'] },
}
const UNSEEN_FIELD = /^(?:hidden|password|checkbox|radio|color|range)$/i

/** Readings over Japanese and Chinese words, which follow the line; the words stay whole. */
const READING = new Set(['rt', 'rtc'])

const PREFORMATTED = new Set(['pre', 'textarea', 'listing', 'xmp', 'plaintext'])

/** The marks of headings in Markdown. */
const HEADING_MARKS: Readonly<Record<string, string>> = {
  title: '# ',
  ...Object.fromEntries([1, 2, 3, 4, 5, 6].map((level) => [`h${level}`, `${'#'.repeat(level)} `])),
}

/**
 * Emits the visible text of HTML that arrives in pieces: its title first, then a line for each block and for each line of preformatted
 * text, headings as in Markdown. Uses the parser's tokenizer only, because the parser lists all open elements, at a cost that grows
 * with the square of their depth.
 */
export class HtmlTextReader {
  readonly #tokenizer: Tokenizer
  readonly #source = new RecentText()
  readonly #hidden = new HiddenElements()
  readonly #line: LineCollector
  #opened = ''
  /** The attributes of the tag under way, where some of them are shown. */
  #attributes = new Map<string, string>()
  #attribute = ''
  /** The number of open texts of drawings. */
  #drawnTexts = 0
  /** The number of open elements that say how the words below them are read. */
  #readings = 0
  /** The number of open elements whose line breaks count. */
  #preformatted = 0

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
        if (this.#hidden.isForeign && this.#opened === 'text') this.#drawnTexts += 1
        if (READING.has(this.#opened)) this.#openReading()
        if (PREFORMATTED.has(this.#opened)) this.#preformatted += 1
        this.#breakAt(this.#opened, HEADING_MARKS[this.#opened])
      },
      onclosetag: (start, end) => {
        const name = this.#source.slice(start, end).toLowerCase()
        this.#hidden.close(name)
        if (name === 'text') this.#drawnTexts = Math.max(0, this.#drawnTexts - 1)
        if (READING.has(name) || name === 'ruby') this.#readings = 0
        if (PREFORMATTED.has(name)) this.#preformatted = Math.max(0, this.#preformatted - 1)
        this.#breakAt(name)
      },
      onselfclosingtag: () => {
        if (this.#opened === 'text') this.#drawnTexts = Math.max(0, this.#drawnTexts - 1)
        if (this.#hidden.isForeign) this.#hidden.close(this.#opened)
        this.#takeAttributes()
      },
      isInForeignContext: () => this.#hidden.isForeign,
      onopentagend: () => this.#takeAttributes(),
      onattribname: (start, end) => {
        if (SHOWN[this.#opened]) this.#attribute = this.#source.slice(start, end).toLowerCase()
      },
      onattribdata: (start, end) => this.#addToAttribute(() => this.#source.slice(start, end)),
      onattribentity: (codePoint) => this.#addToAttribute(() => String.fromCodePoint(codePoint)),
      onattribend: ignore,
      oncdata: ignore,
      oncomment: ignore,
      ondeclaration: ignore,
      onprocessinginstruction: ignore,
      onend: ignore,
    }
  }

  #take(taken: string): void {
    if (this.#hidden.isHidden && !(this.#hidden.isForeign && this.#drawnTexts > 0)) return
    const text = withoutControls(taken)
    if (this.#readings > 0) {
      this.#line.addAside(text)
      return
    }
    const [first = '', ...others] = this.#preformatted > 0 ? text.split(/\r\n?|\n/) : [text]
    this.#line.add(first)
    for (const line of others) {
      this.#line.begin('')
      this.#line.add(line)
    }
  }

  #addToAttribute(text: () => string): void {
    if (!SHOWN[this.#opened]) return
    this.#attributes.set(this.#attribute, (this.#attributes.get(this.#attribute) ?? '') + text())
  }

  #takeAttributes(): void {
    if (this.#attributes.size === 0) return
    if (!UNSEEN_FIELD.test(this.#attributes.get('type') ?? '')) {
      for (const name of SHOWN[this.#opened] ?? []) this.#take(` ${this.#attributes.get(name) ?? ''} `)
    }
    this.#attributes.clear()
  }

  /** One reading ends where the next one begins. */
  #openReading(): void {
    this.#readings = 1
    this.#line.addAside(' ')
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

/** A line is emitted in pieces of about this length, so that an endless line takes no memory. */
const PIECE_LENGTH = 8 * 1024

/** Collects the words of one line after the other, turns each run of white space into one blank, and drops empty lines. */
class LineCollector {
  readonly #onText: (text: string) => void
  #rest = ''
  #aside = ''
  #mark = ''
  #hasBegun = false

  constructor(onText: (text: string) => void) {
    this.#onText = onText
  }

  add(text: string): void {
    this.#rest += text
    if (this.#rest.length >= PIECE_LENGTH) this.#onText(this.#takeWords())
  }

  /** Adds words that follow the line. */
  addAside(text: string): void {
    this.#aside += text
  }

  /** Ends the line; if words follow, the next one begins with this mark. */
  begin(mark: string): void {
    this.end()
    this.#mark = mark
  }

  end(): void {
    if (this.#aside.trim() !== '') this.#rest += ` (${this.#aside.trim()})`
    this.#aside = ''
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

const HIDDEN = new Set(['rp', 'script', 'style', 'noscript', 'template', 'svg', 'iframe', 'object'])

/** Elements that hold blocks: closing one closes every element inside it. */
const CONTAINERS = new Set(
  'html head body main article section aside nav header footer div form table thead tbody tr td th ul ol li dl dd'.split(
    ' ',
  ),
)

/**
 * Knows whether the current place in HTML lies in an element that a reader does not see. Counts open elements instead of listing
 * them, so that each tag costs the same at any depth.
 */
class HiddenElements {
  readonly #containers = new Map<string, number>()
  readonly #inner = new Map<string, number>()
  #element = ''
  #depth = 0

  get isHidden(): boolean {
    return this.#depth > 0
  }

  /** True inside a drawing (SVG), whose elements may close themselves. */
  get isForeign(): boolean {
    return this.#element === 'svg'
  }

  open(name: string): void {
    if (this.#depth > 0) {
      if (name === this.#element) this.#depth += 1
      else if (CONTAINERS.has(name)) change(this.#inner, name, 1)
    } else if (HIDDEN.has(name)) {
      this.#element = name
      this.#depth = 1
    } else if (CONTAINERS.has(name)) {
      change(this.#containers, name, 1)
    }
  }

  close(name: string): void {
    if (this.#depth === 0) change(this.#containers, name, -1)
    else if (name === this.#element) this.#rise(this.#depth - 1)
    else if (this.#inner.has(name)) change(this.#inner, name, -1)
    else if (this.#containers.has(name)) {
      change(this.#containers, name, -1)
      this.#rise(0)
    }
  }

  #rise(depth: number): void {
    this.#depth = depth
    if (depth > 0) return
    this.#element = ''
    this.#inner.clear()
  }
}

function change(counts: Map<string, number>, name: string, by: number): void {
  const count = (counts.get(name) ?? 0) + by
  if (count > 0) counts.set(name, count)
  else counts.delete(name)
}
