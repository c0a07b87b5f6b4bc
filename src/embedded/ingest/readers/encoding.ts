import type { ExtractionSource } from './extraction.ts'

/** The bytes are not valid in the encoding of the text. */
export class UndecodableError extends Error {}

/** Decodes text that arrives in pieces. */
interface TextDecoding {
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
  let hasBegun = false
  return {
    decode(bytes, isLast) {
      if (isStrict && encoding === 'utf-8') assertPlain(bytes)
      try {
        const text = decoder.decode(bytes, { stream: !isLast })
        if (hasBegun || text === '') return text
        hasBegun = true
        return text.startsWith(BYTE_ORDER_MARK) ? text.slice(1) : text
      } catch (error) {
        throw new UndecodableError('The text is not valid in its encoding', { cause: error })
      }
    },
  }
}

/** Node's decoder leaves out two of them when the first piece ends within the first one, so it must leave out none. */
const BYTE_ORDER_MARK = '\ufeff'

function assertPlain(bytes: Buffer): void {
  if (bytes.includes(0)) throw new UndecodableError('A zero byte')
  if (sevenBitEncoding(bytes)) throw new UndecodableError('An escape sequence switches to another encoding')
}

function markedEncoding(bytes: Buffer): string {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return 'utf-16le'
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return 'utf-16be'
  return 'utf-8'
}

/** Encodings whose bytes are all ASCII, and which switch to another set of characters by an escape sequence. */
type SevenBitEncoding = 'iso-2022-jp' | 'iso-2022-kr'

/** Decodes bytes that arrive in pieces; throws TypeError at invalid ones if it is fatal. */
interface Decoder {
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
function sevenBitEncoding(bytes: Buffer): SevenBitEncoding | undefined {
  if (bytes.includes(KOREAN)) return 'iso-2022-kr'
  return JAPANESE.some((sequence) => bytes.includes(sequence)) ? 'iso-2022-jp' : undefined
}

/** A decoder for ISO-2022-KR or any encoding of TextDecoder; throws RangeError for others. */
function openDecoder(name: string, fatal: boolean): Decoder {
  return name === 'iso-2022-kr' ? openKoreanDecoder(fatal) : new TextDecoder(name, { fatal, ignoreBOM: true })
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

interface GuessedEncoding {
  /** One that `openDecoder` knows. */
  readonly name: string
  /** The text itself names this encoding. */
  readonly isDeclared: boolean
}

/** In the first bytes of HTML, XML, CSS, Python and the like. */
const DECLARATION = /(?:charset|encoding|coding)\s*[=:]\s*["']?([\w.:-]+)/i

/** Below this, the detection is no better than chance (of 100). */
const MIN_CONFIDENCE = 15

/** No text holds these, but any other data decoded by a single-byte encoding does. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for
const CONTROL = /[\u0000-\u0008\u000b\u000e-\u001a\u001c-\u001f\u007f-\u009f\ufffd]/

/** The bytes by which the encoding is recognized; they do not depend on how the text is cut into chunks. */
interface Sample {
  readonly head: Buffer
  /** From shortly before the first byte that is not ASCII, or an escape; begins at an even position. */
  readonly foreign: Buffer
}

const SAMPLE_BYTES = 64 * 1024
const LEAD_BYTES = 1_024

/**
 * Finds the encoding of text that is not valid UTF-8: the one that it names, else the one that fits its bytes best. Undefined when
 * none fits, and for UTF-8 with single faults.
 */
export async function guessEncoding(source: ExtractionSource): Promise<GuessedEncoding | undefined> {
  const { head, foreign } = await takeSample(source)
  const declared = DECLARATION.exec(head.toString('latin1'))?.[1]
  if (declared !== undefined && fits(declared, foreign)) return { name: declared.toLowerCase(), isDeclared: true }
  const switched = sevenBitEncoding(foreign)
  if (switched && fits(switched, foreign)) return { name: switched, isDeclared: true }
  const name = wideEncoding(foreign) ?? (isUtf8WithFaults(foreign) ? undefined : await detect(foreign))
  return name === undefined ? undefined : { name, isDeclared: false }
}

async function takeSample(source: ExtractionSource): Promise<Sample> {
  let head = Buffer.alloc(0)
  let lead = Buffer.alloc(0)
  let foreign: Buffer | undefined
  let position = 0
  for await (const bytes of source.chunks()) {
    if (head.length < LEAD_BYTES) head = Buffer.concat([head, bytes]).subarray(0, LEAD_BYTES)
    const start = foreign ? 0 : bytes.findIndex((byte) => byte === 0 || byte === 0x1b || byte > 0x7f)
    if (start < 0) lead = Buffer.concat([lead, bytes]).subarray(-LEAD_BYTES)
    else if (!foreign) {
      const before = Buffer.concat([lead, bytes.subarray(0, start)]).subarray(-LEAD_BYTES)
      const isOdd = (position + start - before.length) % 2 === 1
      foreign = Buffer.concat([before.subarray(isOdd ? 1 : 0), bytes.subarray(start)])
    } else foreign = Buffer.concat([foreign, bytes])
    position += bytes.length
    if (foreign && foreign.length >= SAMPLE_BYTES) break
  }
  return { head, foreign: foreign?.subarray(0, SAMPLE_BYTES) ?? lead }
}

async function detect(sample: Buffer): Promise<string | undefined> {
  const { analyse } = await import('chardet')
  return analyse(sample).find(({ name, confidence }) => confidence >= MIN_CONFIDENCE && fits(name, sample))?.name
}

/** Fewer zero bytes are no sign of UTF-16. */
const MIN_ZEROS = 8

/** UTF-16 without a byte order mark: Latin letters, digits and blanks have a zero byte each, always on the same side. */
function wideEncoding(sample: Buffer): string | undefined {
  const zeros = [0, 0]
  for (const [index, byte] of sample.entries()) if (byte === 0) zeros[index % 2] = (zeros[index % 2] ?? 0) + 1
  const [even = 0, odd = 0] = zeros
  const many = Math.max(MIN_ZEROS, sample.length / 8)
  if (odd > many && even < odd / 10) return fits('utf-16le', sample) ? 'utf-16le' : undefined
  if (even > many && odd < even / 10) return fits('utf-16be', sample) ? 'utf-16be' : undefined
  return undefined
}

/** True when there are at least as many whole characters of several bytes as faults, or the text is cut amid its last character. */
function isUtf8WithFaults(sample: Buffer): boolean {
  const text = new TextDecoder('utf-8').decode(sample)
  const faults = text.split('\ufffd').length - 1
  const whole = text.replace(/[\p{ASCII}\ufffd]/gu, '').length
  return whole >= faults || (faults === 1 && text.endsWith('\ufffd'))
}

function fits(name: string, sample: Buffer): boolean {
  try {
    return !CONTROL.test(openDecoder(name, true).decode(sample, { stream: true }))
  } catch {
    // An encoding that is not known, or bytes that are invalid in it.
    return false
  }
}
