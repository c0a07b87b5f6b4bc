/** Manual pages in the language of man(7). */
import packageJson from '../../package.json' with { type: 'json' }

export interface ManPage {
  /** With its section: `shelfd-sync.1`. */
  readonly name: string
  readonly text: string
}

/** Words and flags are neither broken at the end of a line nor spread over it. */
const LAYOUT = ['.nh', '.ad l']

/** A page of parts made by the other functions here. `about` is its line in the list of pages. */
export function pageOf(name: string, about: string, parts: readonly string[]): ManPage {
  const [title = '', section = ''] = name.split('.')
  const heading = `.TH ${title.toUpperCase()} ${section} "" "shelfd ${packageJson.version}" "shelfd"`
  const summary = `${escapeText(title)} \\- ${escapeText(about)}`
  return { name, text: `${[heading, ...LAYOUT, '.SH NAME', summary, ...parts].join('\n')}\n` }
}

export function section(title: string, ...parts: readonly string[]): string {
  return [`.SH ${quote(title.toUpperCase())}`, ...parts].join('\n')
}

export function subsection(title: string, ...parts: readonly string[]): string {
  return [`.SS ${quote(title)}`, ...parts].join('\n')
}

/** Text as it is written in help: lines are joined, an empty line begins a paragraph. */
export function paragraphs(text: string): string {
  const all = text.split('\n\n').map((paragraph) => fillLine(paragraph.replaceAll('\n', ' ')))
  return all.join('\n.PP\n')
}

/** A term, already marked up, with its explanation indented below. */
export function item(term: string, text: string): string {
  return `.TP\n${protectStart(term)}\n${fillLine(text)}`
}

/** Lines that stay as they are. */
export function verbatim(lines: readonly string[]): string {
  return ['.nf', ...lines.map(fillLine), '.fi'].join('\n')
}

export function bold(text: string): string {
  return `\\fB${escapeText(text)}\\fR`
}

export function italic(text: string): string {
  return `\\fI${escapeText(text)}\\fR`
}

/** A list of other pages: `shelfd(1), shelfd-sync(1)`. */
export function seeAlso(names: readonly string[]): string {
  const references = names.map((name) => name.split('.')).map(([title = '', number]) => `${bold(title)}(${number})`)
  return section('See also', references.join(',\n'))
}

function fillLine(text: string): string {
  return protectStart(escapeText(text))
}

/** A line that begins with a dot or an apostrophe would be a request. */
function protectStart(line: string): string {
  return /^[.']/.test(line) ? `\\&${line}` : line
}

/** A plain dash may be shown as another sign, which nobody can copy into a terminal; so may marks and accents. */
function escapeText(text: string): string {
  return text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replaceAll("'", '\\(aq')
    .replaceAll('`', '\\(ga')
    .replaceAll('^', '\\(ha')
    .replaceAll('~', '\\(ti')
}

function quote(text: string): string {
  return `"${escapeText(text).replaceAll('"', '\\(dq')}"`
}
