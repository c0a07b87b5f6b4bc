export const READABLE_TEXT = 'it is not text in UTF-8, or in UTF-16 with its mark; save it as UTF-8'

/** Every text of UTF-16 and UTF-32 has a zero byte, and an escape switches encodings. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for
const OTHER_ENCODING = /[\0\x1b]/

/** Decodes UTF-8, or UTF-16 with its mark. Undefined for another encoding, since a text with lost words would mean something else. */
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
