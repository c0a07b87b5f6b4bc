/** How a text must be saved to be read, as the end of a message. */
export const READABLE_TEXT = 'it is not text in UTF-8, or in UTF-16 with its mark; save it as UTF-8'

/** A zero byte is in every text of UTF-16 and UTF-32, and an escape switches to another encoding: no text in UTF-8 has either. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
const OTHER_ENCODING = /[\0\x1b]/

/**
 * Decodes a text that decides something, without its byte-order mark: UTF-8, or UTF-16 with its mark. Returns undefined for any other
 * encoding, since a text of which some words were lost would mean something else.
 */
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
