import { openDecoder, sevenBitEncoding } from './seven-bit-encoding.ts'

/** The bytes are not valid in the encoding of the text. */
export class UndecodableError extends Error {}

/** Decodes text that arrives in pieces. */
export interface TextDecoding {
  decode(bytes: Buffer, isLast: boolean): string
}

export interface Encoding {
  /** Undefined: UTF-8, or UTF-16 when the first bytes are its byte order mark. */
  readonly name: string | undefined
  readonly isStrict: boolean
}

/**
 * Strict decoding throws UndecodableError at the first invalid byte, and in UTF-8 at a zero byte, which no text holds, and at an escape
 * sequence that switches to another encoding. Lenient decoding replaces an invalid byte by U+FFFD.
 */
export function startDecoding(firstBytes: Buffer, { name, isStrict }: Encoding): TextDecoding {
  const encoding = name ?? markedEncoding(firstBytes)
  const decoder = openDecoder(encoding, isStrict)
  return {
    decode(bytes, isLast) {
      if (isStrict && encoding === 'utf-8') assertPlain(bytes)
      try {
        return decoder.decode(bytes, { stream: !isLast })
      } catch (error) {
        throw new UndecodableError('The text is not valid in its encoding', { cause: error })
      }
    },
  }
}

function assertPlain(bytes: Buffer): void {
  if (bytes.includes(0)) throw new UndecodableError('A zero byte')
  if (sevenBitEncoding(bytes)) throw new UndecodableError('An escape sequence switches to another encoding')
}

function markedEncoding(bytes: Buffer): string {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return 'utf-16le'
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return 'utf-16be'
  return 'utf-8'
}
