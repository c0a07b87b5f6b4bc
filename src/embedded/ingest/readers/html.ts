import { type Handler, Parser } from 'htmlparser2'
import { withoutControls } from './visible-text.ts'

const INLINE = new Set(
  'a abbr acronym b bdi bdo big cite code data del dfn em font i ins kbd mark nobr q rb rp rt rtc ruby s samp small strike span strong sub sup time tspan tt u var wbr'.split(
    ' ',
  ),
)

/** The attributes that browsers show as text, by element; those of hidden or secret fields are not shown. */
const SHOWN_ATTRIBUTES: ReadonlyMap<string, readonly string[]> = new Map<string, readonly string[]>([
  ['img', ['alt']],
  ['area', ['alt']],
  ['input', ['value', 'placeholder', 'alt']],
  ['textarea', ['placeholder']],
  ['option', ['label']],
  ['optgroup', ['label']],
])
const HIDDEN_FIELD = /^(?:hidden|password|checkbox|radio|color|range)$/i

/** Elements for readings above Japanese and Chinese words. They are written after the line, so that they do not cut the words. */
const READING_ELEMENTS = new Set(['rt', 'rtc'])

const PREFORMATTED = new Set(['pre', 'textarea', 'listing', 'xmp', 'plaintext'])

/** The Markdown marks of headings, by element. */
const HEADING_MARKS: ReadonlyMap<string, string> = new Map([
  ['title', '# '],
  ...[1, 2, 3, 4, 5, 6].map((level) => [`h${level}`, `${'#'.repeat(level)} `] as const),
])

const HIDDEN_ELEMENTS = new Set(['rp', 'script', 'style', 'noscript', 'template', 'svg', 'iframe', 'object'])

/** Emits the visible text of HTML that arrives in pieces: the title, then one line for each block; headings as in Markdown. */
export class HtmlTextReader {
  readonly #parser: ShallowParser
  readonly #line: LineCollector
  /** How many elements of each kind are open. */
  readonly #open = { hidden: 0, drawings: 0, drawnTexts: 0, readings: 0, preformatted: 0 }

  constructor(onText: (text: string) => void) {
    this.#line = new LineCollector(onText)
    const handlers: Partial<Handler> = {
      ontext: (text) => this.#addText(text),
      onopentag: (name, attributes) => {
        this.#count(name, 1)
        if (READING_ELEMENTS.has(name)) this.#line.addAside(' ')
        this.#breakAt(name, HEADING_MARKS.get(name))
        if (!HIDDEN_FIELD.test(attributes.type ?? '')) {
          for (const key of SHOWN_ATTRIBUTES.get(name) ?? []) if (attributes[key]) this.#addText(` ${attributes[key]} `)
        }
      },
      onclosetag: (name) => this.#count(name, -1),
    }
    this.#parser = new ShallowParser(handlers, (name) => this.#breakAt(name))
  }

  write(html: string): void {
    this.#parser.write(html)
  }

  end(): void {
    this.#parser.end()
    this.#line.end()
  }

  #count(name: string, by: 1 | -1): void {
    this.#parser.depth += by
    if (HIDDEN_ELEMENTS.has(name)) this.#open.hidden += by
    if (name === 'svg') this.#open.drawings += by
    if (name === 'text') this.#open.drawnTexts += by
    if (READING_ELEMENTS.has(name)) this.#open.readings += by
    if (PREFORMATTED.has(name)) this.#open.preformatted += by
  }

  #addText(text: string): void {
    const { hidden, drawings, drawnTexts, readings, preformatted } = this.#open
    const isDrawnText = drawnTexts > 0 && hidden === drawings
    if (hidden > 0 && !isDrawnText) return
    if (readings > 0) {
      this.#line.addAside(text)
      return
    }
    const [first = '', ...others] = preformatted > 0 ? text.split(/\r\n?|\n/) : [text]
    this.#line.add(first)
    for (const line of others) {
      this.#line.begin('')
      this.#line.add(line)
    }
  }

  #breakAt(name: string, mark = ''): void {
    if (!INLINE.has(name)) this.#line.begin(mark)
  }
}

/** How deep elements may be nested, as in Chrome. */
const MAX_DEPTH = 512
/** Elements that are never closed at once: those whose content is no markup, and those that the parser ignores, with an empty name. */
const NEVER_VOID = new Set(['script', 'style', 'iframe', ''])

/**
 * Closes elements beyond MAX_DEPTH at once, because each tag takes time in proportion to the number of open elements. Reports each closing
 * tag of a page, also of an element that an outer one has closed before: the parser has no event for it, but asks whether it is void.
 */
class ShallowParser extends Parser {
  depth = 0
  #isTooDeep = false
  #isClosing = false
  readonly #onClosing: (name: string) => void

  constructor(handlers: Partial<Handler>, onClosing: (name: string) => void) {
    super(handlers)
    this.#onClosing = onClosing
  }

  override onopentagname(start: number, end: number): void {
    this.#isTooDeep = this.depth >= MAX_DEPTH
    super.onopentagname(start, end)
  }

  /** Ignores a closing tag that is cut at the end of the page: the tokenizer reports it as text with a negative position. */
  override ontext(start: number, end: number): void {
    if (start >= 0) super.ontext(start, end)
  }

  override onclosetag(start: number, end: number): void {
    this.#isTooDeep = false
    this.#isClosing = true
    super.onclosetag(start, end)
  }

  protected override isVoidElement(name: string): boolean {
    if (this.#isClosing) this.#onClosing(name)
    this.#isClosing = false
    return super.isVoidElement(name) || (this.#isTooDeep && !NEVER_VOID.has(name))
  }
}

/** Longer lines are emitted in pieces of about this length, so that memory is bounded. */
const PIECE_LENGTH = 8 * 1024

/** Emits one line after the other, with one blank for each run of white space, and without empty lines. */
class LineCollector {
  readonly #onText: (text: string) => void
  #pending = ''
  #aside = ''
  #mark = ''
  #hasBegun = false

  constructor(onText: (text: string) => void) {
    this.#onText = onText
  }

  add(text: string): void {
    this.#pending += text
    if (this.#pending.length >= PIECE_LENGTH) this.#onText(this.#takePending())
  }

  /** Adds text that is written in parentheses at the end of the line. */
  addAside(text: string): void {
    this.#aside += text
  }

  /** Ends the line; the next one begins with this mark if it has text. */
  begin(mark: string): void {
    this.end()
    this.#mark = mark
  }

  end(): void {
    const aside = withoutControls(this.#aside).trim()
    if (aside !== '') this.#pending += ` (${aside})`
    this.#aside = ''
    const words = this.#takePending()
    if (this.#hasBegun) this.#onText(`${words}\n`)
    this.#pending = ''
    this.#mark = ''
    this.#hasBegun = false
  }

  /** Returns and removes the pending text, except for a blank at its end, which is dropped if the line ends there. */
  #takePending(): string {
    // Only the joined pieces are searched for terminal sequences, since a piece may end within one.
    const joined = withoutControls(this.#pending).replace(/\s+/g, ' ')
    const words = this.#hasBegun ? joined.trimEnd() : joined.trim()
    this.#pending = joined.endsWith(' ') ? ' ' : ''
    const begins = words !== '' && !this.#hasBegun
    if (begins) this.#hasBegun = true
    return begins ? this.#mark + words : words
  }
}
