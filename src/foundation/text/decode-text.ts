export const READABLE_TEXT = 'it is neither UTF-8 text nor UTF-16 text with a byte order mark; save it as UTF-8'

/** If text was decoded as UTF-8, a zero character is a sign of UTF-16 or UTF-32, and an escape character one of ISO 2022. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for
const OTHER_ENCODING = /[\0\x1b]/

/** Decodes UTF-8, or UTF-16 with a byte order mark. Returns undefined for another encoding, because lost words would change the meaning. */
export function decodeText(bytes: Uint8Array): string | undefined {
  try {
    const text = new TextDecoder(encodingOf(bytes), { fatal: true }).decode(bytes)
    return OTHER_ENCODING.test(text) ? undefined : text
  } catch {
    return undefined
  }
}

function encodingOf([first, second]: Uint8Array): string {
  if (first === 0xff && second === 0xfe) return 'utf-16le'
  return first === 0xfe && second === 0xff ? 'utf-16be' : 'utf-8'
}
