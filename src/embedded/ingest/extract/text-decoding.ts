/** The bytes are not text in the encoding they should be in. */
export class UndecodableError extends Error {}

/** Turns bytes that come in pieces into text. */
export interface TextDecoding {
  decode(bytes: Buffer, isLast: boolean): string
}

/**
 * UTF-8, or UTF-16 when the first bytes carry its mark. A strict decoding throws UndecodableError at the first wrong byte,
 * a lenient one puts U+FFFD in its place.
 */
export function startDecoding(firstBytes: Buffer, isStrict: boolean): TextDecoding {
  const decoder = new TextDecoder(encodingOf(firstBytes), { fatal: isStrict })
  return {
    decode(bytes, isLast) {
      try {
        return decoder.decode(bytes, { stream: !isLast })
      } catch (error) {
        throw new UndecodableError('The text is not valid in its encoding', { cause: error })
      }
    },
  }
}

function encodingOf(bytes: Buffer): string {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return 'utf-16le'
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return 'utf-16be'
  return 'utf-8'
}
