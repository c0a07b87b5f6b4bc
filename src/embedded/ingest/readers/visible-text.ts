/** Turns text files into the text that people see: without terminal sequences, and in some formats without escapes, markup and folds. */

type Transform = (text: string) => string

/** Passes on the text that people see. What a format or control characters may change comes in whole lines; each keeps its number. */
export class VisibleText {
  readonly #mimeType: string
  readonly #onText: (text: string) => void
  #transform: Transform | undefined
  #hasBegun = false
  #pending = ''

  constructor(mimeType: string, onText: (text: string) => void) {
    this.#mimeType = mimeType
    this.#onText = onText
  }

  write(text: string): void {
    if (text === '') return
    this.#pending += text
    if (!this.#hasBegun && isTooShort(this.#pending)) return
    this.#begin()
    const isShown = !this.#transform && !CONTROL.test(this.#pending)
    const end = isShown ? endOfShown(this.#pending) : lastBorder(this.#pending)
    const whole = this.#pending.slice(0, end)
    this.#pending = this.#pending.slice(end)
    if (isShown && whole !== '') this.#onText(whole)
    else this.#emit(whole)
  }

  end(): void {
    this.#begin()
    this.#emit(this.#pending)
  }

  #begin(): void {
    if (!this.#hasBegun) this.#transform = transformOf(this.#mimeType, this.#pending)
    this.#hasBegun = true
  }

  #emit(text: string): void {
    const plain = withoutControls(text)
    if (plain !== '') this.#onText(this.#transform?.(plain) ?? plain)
  }
}

/** Returns whether the format cannot be recognized yet: by eight characters after white space, or by the first 1,024. */
function isTooShort(text: string): boolean {
  return text.length < 1_024 && text.trimStart().length < 8
}

/** A longer line is passed on in several pieces. */
const MAX_LINE = 256 * 1024

/** Leaves the last letter to the next piece, which may begin with a backspace. */
function endOfShown(text: string): number {
  return text.endsWith('\n') ? text.length : text.length - 1
}

/** Returns the end of the last line but one: in formats with folded lines, a later piece may continue the last one. */
function lastBorder(text: string): number {
  if (text.length > MAX_LINE) return text.length
  const end = text.lastIndexOf('\n')
  return text.slice(0, end).lastIndexOf('\n') + 1
}

/* biome-ignore-start lint/suspicious/noControlCharactersInRegex: control characters are what these look for */
const CONTROL = /[\x00-\x08\x0e-\x1f\x7f]/
/** Terminal sequences (ECMA-48): for colours and the like, for titles of windows, and others. */
const TERMINAL = /\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b\n]*(?:\x07|\x1b\\)|\x1b[ -/]*[0-~]/g
/** Bold and underlined letters that are typed over, such as `N\bN` and `_\bN`. */
const STRUCK_OVER = /[^\n\x08]\x08/g
/** The codes of chat programs (IRC) for colours and styles. */
const CHAT = /\x03(?:\d{1,2}(?:,\d{1,2})?)?|[\x02\x0f\x16\x1d]/g
const SEPARATORS = /[\x1c-\x1f]/g
const UNSEEN = /[\x00-\x08\x0e-\x1b\x7f]/g
/* biome-ignore-end lint/suspicious/noControlCharactersInRegex: the end of these */

/** Returns the text without terminal sequences, letters that are typed over, and control characters other than white space. */
export function withoutControls(text: string): string {
  if (!CONTROL.test(text)) return text
  const words = text.replace(TERMINAL, '').replace(STRUCK_OVER, '').replace(CHAT, '')
  return words.replace(SEPARATORS, ' ').replace(UNSEEN, '')
}

const XML = /^(?:application\/xml|text\/xml|text\/vtt|application\/x-subrip|.*\+xml)$/
const JSON_TYPE = /^application\/(?:json5?|x-ndjson|.*\+json)$/
const BEGINS = { xml: /^\s*<\?xml\b/, card: /^BEGIN:V/i, roff: /^(?:[.']\\"|\.(?:TH|Dd|so) )/ } as const

/** Returns the function for the format of a text; undefined if the text is shown as it is. */
function transformOf(mimeType: string, beginning: string): Transform | undefined {
  if (XML.test(mimeType) || BEGINS.xml.test(beginning)) return ofXml
  if (JSON_TYPE.test(mimeType)) return ofJson
  if (/^text\/(?:calendar|vcard)$/.test(mimeType) || BEGINS.card.test(beginning)) return ofCard
  if (mimeType === 'text/troff' || BEGINS.roff.test(beginning)) return ofRoff
  return mimeType === 'text/x-ass' ? ofSubtitles : undefined
}

const ENTITY = /&(?:#x([\da-f]{1,6})|#(\d{1,7})|(amp|lt|gt|quot|apos|nbsp|shy));/gi
const NAMED: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: ' ', shy: '' }
/** Markup within words of documents, drawings and subtitles. */
const INLINE =
  /(?<=\p{L})(?:<\/?(?:[\w-]+:)?(?:a|b|big|c|em|emphasis|font|hi|i|s|small|span|strong|style|sub|sup|tspan|u)(?:[\s/.][^<>]{0,500})?>|<!--[^<>]{0,500}-->)+(?=\p{L})/gu
/** The markup between two runs of text of a paragraph in Word or PowerPoint. */
const RUNS = /<\/([aw]:t)>(?:<(?!\/?(?:[aw]:p|w:tab|[aw]:br|w:cr)\b)[^<>]{0,500}>){0,40}<\1\b[^<>]{0,100}>/g

function ofXml(text: string): string {
  const joined = text.includes('<') ? text.replace(RUNS, '').replace(INLINE, '') : text
  return joined.replace(ENTITY, (entity, hex?: string, decimal?: string, name?: string) =>
    name === undefined ? character(hex, decimal, entity) : (NAMED[name.toLowerCase()] ?? entity),
  )
}

function character(hex: string | undefined, decimal: string | undefined, byDefault: string): string {
  const code = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16)
  if (code === 0xad) return ''
  return code > 0x10ffff || code < 0x20 ? byDefault : String.fromCodePoint(code)
}

const JSON_ESCAPE = /\\(?:u([\da-f]{4})|(["\\/])|[bfnrt])/gi

function ofJson(text: string): string {
  return text.replace(JSON_ESCAPE, (_, hex?: string, sign?: string) =>
    hex === undefined ? (sign ?? ' ') : String.fromCharCode(Number.parseInt(hex, 16)).replace(/[\r\n\0]/, ' '),
  )
}

const FOLDED = /(?<![^\n])[^\n]*(?:\n[ \t][^\n]*)+/g
const QUOTED =
  /(?<![^\n])(?:(?!ENCODING=QUOTED-PRINTABLE)[^\n:])*ENCODING=QUOTED-PRINTABLE[^\n:]*:(?:[^\n]*=\r?\n)*[^\n]*/gi
const CARD_ESCAPE = /\\(?:([,;\\])|n)/gi

/** Decodes calendars and cards. The line breaks of a folded line (RFC 5545, 3.1) are put after it, so that later lines keep their numbers. */
function ofCard(text: string): string {
  const lined = (line: string, borders: number) => `${line}${'\n'.repeat(borders)}`
  const breaks = (each: string) => each.split('\n').length - 1
  return text
    .replace(FOLDED, (line) => lined(line.replace(/\r?\n[ \t]/g, ''), breaks(line)))
    .replace(QUOTED, (line) => lined(decodeQuoted(line.replace(/=\r?\n/g, '')), breaks(line)))
    .replace(CARD_ESCAPE, (_, sign?: string) => sign ?? ' ')
}

function decodeQuoted(line: string): string {
  const bytes = (hex: string) => Buffer.from(hex.replaceAll('=', ''), 'hex').toString().replaceAll('\n', ' ')
  return line.replace(/(?:=[\dA-F]{2})+/gi, bytes)
}

const ROFF_ESCAPE =
  /\\(?:[fFmMgk](?:\[[^\]\n]{0,99}\]|\(..|.)|s[+-]?\d{1,2}|[hvwLl]'[^'\n]{0,99}'|\*(?:\[[^\]\n]{0,99}\]|\(..|.)|\[([^\]\n]{0,99})\]|\((..)|([-eE ~0])|[&)|^/,:%c{}!?])/g
const ROFF_CHARACTERS: ReadonlyMap<string, string> = new Map(
  Object.entries({
    ...{ '-': '-', e: '\\', E: '\\', ' ': ' ', '~': ' ', '0': ' ', rs: '\\', em: '—', en: '–', hy: '-', bu: '•' },
    ...{ aq: "'", dq: '"', lq: '“', rq: '”', oq: '‘', cq: '’', ss: 'ß', oa: 'å', oA: 'Å', ae: 'æ', AE: 'Æ' },
    ...{ '/o': 'ø', '/O': 'Ø', '/l': 'ł', '-D': 'Ð', Sd: 'ð', TP: 'Þ', Tp: 'þ', oe: 'œ', OE: 'Œ', co: '©' },
  }),
)
const ROFF_MARKS: Readonly<Record<string, string>> = {
  ...{ "'": '\u0301', '`': '\u0300', '^': '\u0302', ':': '\u0308', '~': '\u0303', ',': '\u0327' },
}

/** Decodes manual pages: drops changes of the font within words, and replaces named characters. */
function ofRoff(text: string): string {
  return text.replace(ROFF_ESCAPE, (_, bracketed?: string, two?: string, one?: string) => {
    const name = bracketed ?? two ?? one
    if (name === undefined) return ''
    const codes = /^u([\dA-F]{4,6}(?:_[\dA-F]{4,6})*)$/i.exec(name)?.[1]?.split('_')
    if (codes)
      return codes
        .map((code) => character(code, undefined, ''))
        .join('')
        .normalize('NFC')
    const mark = ROFF_MARKS[name.charAt(0)]
    const marked = mark !== undefined && name.length === 2 ? `${name.charAt(1)}${mark}`.normalize('NFC') : ' '
    return ROFF_CHARACTERS.get(name) ?? marked
  })
}

function ofSubtitles(text: string): string {
  return text.replace(/\{\\[^{}\n]*\}/g, '').replace(/\\[Nnh]/g, ' ')
}
