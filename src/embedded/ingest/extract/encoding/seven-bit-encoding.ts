/** Encodings whose bytes are all ASCII, and which switch to another set of characters by an escape sequence. */
export type SevenBitEncoding = 'iso-2022-jp' | 'iso-2022-kr'

/** Decodes bytes that arrive in pieces; throws TypeError at invalid ones if it is fatal. */
export interface Decoder {
  decode(bytes: Uint8Array, options: { readonly stream: boolean }): string
}

const SHIFT_OUT = 0x0e
const SHIFT_IN = 0x0f
const BLANK = 0x20
const HIGHEST_BIT = 0x80
/** RFC 1557: designates KS X 1001, once, before the first shift. */
const KOREAN = '\x1b$)C'
/** RFC 1468: switches to JIS X 0208. */
const JAPANESE = ['\x1b$@', '\x1b$B']

/** The encoding that escape sequences of a text switch to; undefined without any. */
export function sevenBitEncoding(bytes: Buffer): SevenBitEncoding | undefined {
  if (bytes.includes(KOREAN)) return 'iso-2022-kr'
  return JAPANESE.some((sequence) => bytes.includes(sequence)) ? 'iso-2022-jp' : undefined
}

/** A decoder for ISO-2022-KR or any encoding of TextDecoder; throws RangeError for others. */
export function openDecoder(name: string, fatal: boolean): Decoder {
  return name === 'iso-2022-kr' ? openKoreanDecoder(fatal) : new TextDecoder(name, { fatal })
}

/** Between the shifts, the bytes are those of EUC-KR without their highest bits. */
function openKoreanDecoder(fatal: boolean): Decoder {
  const decoder = new TextDecoder('euc-kr', { fatal })
  let isShifted = false
  const unshift = (bytes: Uint8Array) => {
    const whole = new Uint8Array(bytes.length)
    let length = 0
    for (const byte of bytes) {
      if (byte === SHIFT_OUT || byte === SHIFT_IN) isShifted = byte === SHIFT_OUT
      else whole[length++] = isShifted && byte > BLANK ? byte | HIGHEST_BIT : byte
    }
    return whole.subarray(0, length)
  }
  return { decode: (bytes, options) => decoder.decode(unshift(bytes), options).replaceAll(KOREAN, '') }
}
