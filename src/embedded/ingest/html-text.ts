import { Parser } from 'htmlparser2'

const HIDDEN = new Set(['script', 'style', 'noscript', 'template', 'svg', 'iframe', 'object'])
const INLINE = new Set(
  'a abbr b bdi bdo cite code data dfn em font i kbd mark q s samp small span strong sub sup time tt u var wbr'.split(
    ' ',
  ),
)

/** Gives the visible text of HTML that comes in pieces, its title first, a line for each block. */
export class HtmlTextReader {
  readonly #parser: Parser
  readonly #onText: (text: string) => void
  #hiddenDepth = 0
  #line = ''

  constructor(onText: (text: string) => void) {
    this.#onText = onText
    this.#parser = new Parser({
      onopentagname: (name) => this.#open(name),
      ontext: (text) => {
        if (this.#hiddenDepth === 0) this.#line += text
      },
      onclosetag: (name) => this.#close(name),
    })
  }

  write(html: string): void {
    this.#parser.write(html)
  }

  end(): void {
    this.#parser.end()
    this.#breakLine()
  }

  #open(name: string): void {
    if (HIDDEN.has(name)) this.#hiddenDepth += 1
    if (!INLINE.has(name)) this.#breakLine()
  }

  #close(name: string): void {
    if (HIDDEN.has(name)) this.#hiddenDepth -= 1
    if (!INLINE.has(name)) this.#breakLine()
  }

  #breakLine(): void {
    const text = this.#line.replace(/\s+/g, ' ').trim()
    this.#line = ''
    if (text) this.#onText(`${text}\n`)
  }
}
