/** The bytes are not valid in the encoding of the text. */
export class UndecodableError extends Error {}

/** Decodes text that arrives in pieces. */
export interface TextDecoding {
  decode(bytes: Buffer, isLast: boolean): string
}

/**
 * Decodes UTF-8, or UTF-16 when the first bytes are its byte order mark. Strict decoding throws UndecodableError at the first
 * invalid byte; lenient decoding replaces it by U+FFFD.
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
