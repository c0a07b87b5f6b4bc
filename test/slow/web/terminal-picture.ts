/** Renders what a terminal got as a page, for pictures of the documentation. */

const ESCAPE = '\x1b'
const CLEARED = `\r${ESCAPE}[2K`
/** Bold, faint, a colour, and their ends. */
const STYLE = new RegExp(`${ESCAPE}\\[(\\d+)m`, 'g')
/** How `styleText` begins and ends each style, by the code that ends it. */
const STYLES: Readonly<Record<string, string>> = {
  1: 'font-weight:bold',
  2: 'opacity:.6',
  31: 'color:#ff7b72',
  32: 'color:#7ee787',
  33: 'color:#f2cc60',
  36: 'color:#79c0ff',
}
const ENDS = new Set(['22', '39'])

/** Returns what is left on the screen at the end. */
export function lastScreen(output: string): string {
  const lines = withoutWrapping(output).split(/\r?\n/)
  return lines.map((line) => line.split(CLEARED).at(-1)).join('\n')
}

/** The redrawn lines, in order. */
export function redrawnLines(output: string): string[] {
  return withoutWrapping(output)
    .split(CLEARED)
    .map((part) => part.split(/\r?\n/)[0] ?? '')
    .filter((line) => line !== '')
}

/** A page with the text on a dark ground. */
export function terminalPage(text: string): string {
  const html = escapeHtml(text.trimEnd()).replaceAll(STYLE, (_, code: string) => {
    if (ENDS.has(code)) return '</span>'
    return `<span style="${STYLES[code] ?? ''}">`
  })
  const look =
    'display:inline-block;margin:0;padding:16px 20px;background:#1c1e24;color:#e6e6e6;font:14px/1.45 monospace'
  return `<!doctype html><meta charset="utf-8"><body style="margin:0"><pre style="${look}">${html}</pre>`
}

/** The sequences that switch off the wrapping of long lines. */
function withoutWrapping(output: string): string {
  return output.replaceAll(`${ESCAPE}[?7l`, '').replaceAll(`${ESCAPE}[?7h`, '')
}

function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
}
