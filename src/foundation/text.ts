// What moves the cursor, reorders text or cannot be seen: control and format characters, separators of lines and paragraphs,
// fillers, halves of characters. The selectors that make emoji colourful are left.
const UNSAFE = /[[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Default_Ignorable_Code_Point}]--[\ufe00-\ufe0f]]/gv
/** Most text has none, and is quickly passed over. */
const NOT_ASCII = /[^ -~]+/g

const SHORT: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' }

/** Text from outside, made safe for one line of a terminal, a log or a report: nothing in it can move the cursor or reorder. */
export function escapeText(text: string): string {
  return replaceUnsafe(text, (character) => {
    const code = character.codePointAt(0) ?? 0
    return SHORT[character] ?? (code < 0x100 ? `\\x${hex(code, 2)}` : `\\u{${hex(code, 1)}}`)
  })
}

/** The same for several lines; tabs, which only indent, are left as well. */
export function escapeLines(lines: string): string {
  return lines.replace(/[^\n\t]+/g, escapeText)
}

/** JSON that no terminal can be tricked with: what JSON leaves as it is but reorders or hides text is escaped. */
export function terminalSafeJson(value: unknown): string {
  return escapeJson(JSON.stringify(value))
}

/** The same for a line of JSON: all it can have of such characters stands in its strings. */
export function escapeJson(json: string): string {
  return replaceUnsafe(json, (character) =>
    Array.from({ length: character.length }, (_, index) => `\\u${hex(character.charCodeAt(index), 4)}`).join(''),
  )
}

function replaceUnsafe(text: string, toEscape: (character: string) => string): string {
  return text.replace(NOT_ASCII, (run) => run.replace(UNSAFE, toEscape))
}

/** `1 file`, `2,500 files`: a number with the form of the word that fits it. */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count.toLocaleString('en')} ${count === 1 ? one : many}`
}

/** The first `maxLength` characters, with a sign that there was more; none is cut in half. */
export function truncateText(text: string, maxLength: number): string {
  return text.length <= maxLength ? text : `${text.slice(0, maxLength - 1).replace(/[\ud800-\udbff]$/, '')}…`
}

/** A word as a shell takes it: in quotes only where it needs them. */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./~-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`
}

function hex(code: number, width: number): string {
  return code.toString(16).padStart(width, '0')
}
