// Characters that move the cursor, reorder text or are invisible: control and format characters, separators of lines and
// paragraphs, fillers, halves of characters. The selectors that make emoji colourful are safe.
const UNSAFE = /[[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Default_Ignorable_Code_Point}]--[\ufe00-\ufe0f]]/gv
/** A quick search first: most text has only printable ASCII, which is safe. */
const NOT_ASCII = /[^ -~]+/g

const PLAIN_LINES = /^[\n\t -~]*$/

const SHORT: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' }

/** Escapes what moves the cursor, reorders text or is invisible, so that the text stays on one line of a terminal, log or report. */
export function escapeText(text: string): string {
  return replaceUnsafe(text, (character) => {
    const code = character.codePointAt(0) ?? 0
    return SHORT[character] ?? (code < 0x100 ? `\\x${hex(code, 2)}` : `\\u{${hex(code, 1)}}`)
  })
}

/** Escapes like `escapeText`, but keeps line breaks and tabs. */
export function escapeLines(lines: string): string {
  if (PLAIN_LINES.test(lines)) return lines
  return lines.replace(/[^\n\t]+/g, escapeText)
}

/** Returns JSON that is safe on a terminal. */
export function terminalSafeJson(value: unknown): string {
  return escapeJson(JSON.stringify(value))
}

/** Escapes characters that JSON permits but that reorder or hide text; in JSON they can only be in strings. */
export function escapeJson(json: string): string {
  return replaceUnsafe(json, (character) =>
    Array.from({ length: character.length }, (_, index) => `\\u${hex(character.charCodeAt(index), 4)}`).join(''),
  )
}

function replaceUnsafe(text: string, toEscape: (character: string) => string): string {
  return text.replace(NOT_ASCII, (run) => run.replace(UNSAFE, toEscape))
}

export function counted(count: number, one: string, many = `${one}s`): string {
  return `${groupDigits(count)} ${count === 1 ? one : many}`
}

/** Returns `1,234`. `toLocaleString('en')` would take 10 ms to load its tables. */
export function groupDigits(count: number): string {
  return String(count).replaceAll(/\B(?=(?:\d{3})+$)/g, ',')
}

/** Shortens a text that is too long, and ends it with `…`; no character is halved. */
export function truncateText(text: string, maxLength: number): string {
  return text.length <= maxLength ? text : `${text.slice(0, maxLength - 1).replace(/[\ud800-\udbff]$/, '')}…`
}

/** Returns the text as one word for a shell, quoted only if needed. */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./~-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`
}

function hex(code: number, width: number): string {
  return code.toString(16).padStart(width, '0')
}
