import type { ExtractionSource } from './extraction.ts'

/** The bytes are not valid in the assumed encoding of the text. */
export class UndecodableError extends Error {}

/** Decodes text that arrives in pieces. */
export interface TextDecoding {
  decode(bytes: Buffer, isLast: boolean): string
}

/**
 * Decodes UTF-8, or UTF-16 if the text begins with its byte order mark. Throws UndecodableError at an invalid byte; in UTF-8 also at a
 * zero byte, which no text contains, and at an escape sequence that switches to another encoding.
 */
export function decodeStrictly(firstBytes: Buffer, charset?: string | null): TextDecoding {
  const encoding = markedEncoding(firstBytes) ?? 'utf-8'
  if (encoding.startsWith('utf-32') || isUnreadableSevenBit(charset ?? declaredIn(firstBytes), firstBytes)) {
    throw new UndecodableError('Another encoding than UTF-8')
  }
  const decoder = openNativeDecoder(encoding, true)
  return withoutMark((bytes, isLast) => {
    if (encoding === 'utf-8') assertPlain(bytes)
    try {
      return decoder(bytes, isLast)
    } catch (error) {
      throw new UndecodableError('The text is not valid in its encoding', { cause: error })
    }
  })
}

/** Decodes text in the guessed encoding, or in UTF-8 without a guess. Replaces invalid bytes by U+FFFD. */
export function decodeLeniently(guess: ReadableEncoding | undefined): TextDecoding {
  return withoutMark(guess ? guess.openDecoder() : openNativeDecoder('utf-8'))
}

/** Removes one byte order mark. Node's decoder would remove two of them if the first piece ends within the first one. */
function withoutMark(decode: Decoder): TextDecoding {
  let hasBegun = false
  return {
    decode(bytes, isLast) {
      const text = decode(bytes, isLast)
      if (hasBegun || text === '') return text
      hasBegun = true
      return text.startsWith('\ufeff') ? text.slice(1) : text
    },
  }
}

function assertPlain(bytes: Buffer): void {
  if (bytes.includes(0)) throw new UndecodableError('A zero byte')
  if (sevenBitEncoding(bytes)) throw new UndecodableError('An escape sequence switches to another encoding')
}

const MARKS: readonly (readonly [name: string, mark: Buffer])[] = [
  // This comes before UTF-16, whose mark it begins with: in UTF-16 text, no zero character follows the mark.
  ['utf-32le', Buffer.from([0xff, 0xfe, 0, 0])],
  ['utf-16le', Buffer.from([0xff, 0xfe])],
  ['utf-16be', Buffer.from([0xfe, 0xff])],
  ['utf-32be', Buffer.from([0, 0, 0xfe, 0xff])],
]

function markedEncoding(bytes: Buffer): string | undefined {
  return MARKS.find(([, mark]) => bytes.subarray(0, mark.length).equals(mark))?.[0]
}

/** Encodings whose bytes are all ASCII. An escape sequence switches to another set of characters. */
type SevenBitEncoding = 'iso-2022-jp' | 'iso-2022-kr'

/** Decodes bytes that arrive in pieces; replaces invalid ones, or throws TypeError if it was opened as fatal. */
type Decoder = (bytes: Buffer, isLast: boolean) => string

const SHIFT_OUT = 0x0e
const SHIFT_IN = 0x0f
const BLANK = 0x20
const HIGHEST_BIT = 0x80
/** The sequence that announces KS X 1001, once, before the first shift (RFC 1557). */
const KOREAN = '\x1b$)C'
/** The sequences that switch to JIS X 0208 (RFC 1468). */
const JAPANESE = ['\x1b$@', '\x1b$B']

/** Returns the encoding whose escape sequences a text contains; undefined without any. */
function sevenBitEncoding(bytes: Buffer): SevenBitEncoding | undefined {
  if (bytes.includes(KOREAN)) return 'iso-2022-kr'
  return JAPANESE.some((sequence) => bytes.includes(sequence)) ? 'iso-2022-jp' : undefined
}

function openNativeDecoder(name: string, fatal = false): Decoder {
  const decoder = new TextDecoder(name, { fatal, ignoreBOM: true })
  return (bytes, isLast) => decoder.decode(bytes, { stream: !isLast })
}

/** Opens a decoder for ISO-2022-KR: bytes between the shifts are those of EUC-KR without their highest bits. */
function openKoreanDecoder(): Decoder {
  const decode = openNativeDecoder('euc-kr')
  let isShifted = false
  const unshift = (bytes: Buffer) => {
    const whole = Buffer.alloc(bytes.length)
    let length = 0
    for (const byte of bytes) {
      if (byte === SHIFT_OUT || byte === SHIFT_IN) isShifted = byte === SHIFT_OUT
      else whole[length++] = isShifted && byte > BLANK ? byte | HIGHEST_BIT : byte
    }
    return whole.subarray(0, length)
  }
  return (bytes, isLast) => decode(unshift(bytes), isLast).replaceAll(KOREAN, '')
}

/** Encodings that TextDecoder knows only without the characters that were added later, and the names under which iconv-lite knows all. */
const EXTENDED: Readonly<Record<string, string>> = { 'euc-kr': 'cp949', big5: 'big5-hkscs' }
/** Encodings that only iconv-lite knows. Its other names are not encodings of text, such as base64. */
const ICONV_ONLY = /^(?:utf-?32|cp-?\d|ibm-?\d|mac|koi8|viscii|tcvn|armscii|georgian)/i

/** Returns a function that opens a decoder, which replaces invalid bytes; undefined for an unknown encoding. */
async function findDecoder(name: string): Promise<(() => Decoder) | undefined> {
  if (name === 'iso-2022-kr') return openKoreanDecoder
  const native = nativeName(name)
  const further = native === undefined ? (ICONV_ONLY.test(name) ? name : undefined) : EXTENDED[native]
  if (further === undefined) return native === undefined ? undefined : () => openNativeDecoder(native)
  const { default: iconv } = await import('iconv-lite')
  if (!iconv.encodingExists(further)) return undefined
  return () => {
    const decoder = iconv.getDecoder(further, { stripBOM: false })
    return (bytes, isLast) => decoder.write(bytes) + (isLast ? (decoder.end() ?? '') : '')
  }
}

function nativeName(label: string): string | undefined {
  try {
    return new TextDecoder(label).encoding
  } catch {
    return undefined
  }
}

interface ReadableEncoding {
  readonly kind: 'readable'
  readonly name: string
  /** True if the text itself or its sender names this encoding. */
  readonly isDeclared: boolean
  readonly openDecoder: () => Decoder
}

/** An encoding that is declared but that no decoder here knows. */
interface UnreadableEncoding {
  readonly kind: 'unreadable'
  readonly name: string
}

/** Matches a declaration in the first bytes of HTML, XML, CSS, Python and the like. */
const DECLARATION = /(?:charset|encoding|coding)\s*[=:]\s*["']?([\w.:-]+)/i

function declaredIn(head: Buffer): string | undefined {
  return DECLARATION.exec(head.toString('latin1', 0, LEAD_BYTES))?.[1]?.toLowerCase()
}

const UNREADABLE = /^(?:johab|ks_c_5601-1992|euc-?jisx0213|euc-jis-2004|shift_?jisx0213|shift_jis-2004)$/
/** Encodings whose bytes are all ASCII, so that they would be valid UTF-8, and the characters with which Chinese text begins in them. */
const UNREADABLE_SEVEN_BIT = [
  [/^hz(?:-gb-2312)?$/, '~{'],
  [/^iso-2022-cn/, '\x1b$'],
] as const

function isUnreadableSevenBit(declared: string | undefined, bytes: Buffer): boolean {
  if (declared === undefined) return false
  return UNREADABLE_SEVEN_BIT.some(([name, beginning]) => name.test(declared) && bytes.includes(beginning))
}

/** Of 100; a detection with less confidence is no better than chance. */
const MIN_CONFIDENCE = 15

/** Characters that no text contains, but that other data yields when it is decoded by a single-byte encoding. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for
const FAULT = /[\u0000-\u0008\u000b\u000e-\u001a\u001c-\u001f\u007f-\u009f\ufffd]/gu

/** The greatest accepted share of faults among characters beyond ASCII. One fault is always accepted in a file that is known to be text. */
const FAULT_SHARE = { text: 0.1, unknown: 0.01 }

/** The bytes from which the encoding is recognized. They do not depend on the sizes of the chunks. */
interface Sample {
  readonly head: Buffer
  /** Bytes from shortly before the first one that is zero, an escape, or not ASCII. They begin at an even offset, for UTF-16. */
  readonly foreign: Buffer
}

const SAMPLE_BYTES = 64 * 1024
const LEAD_BYTES = 1_024

/**
 * Returns the encoding of text that is not valid UTF-8: the one that its mark, its sender or the text itself names, if it fits, otherwise
 * the one that fits best. A few faults are accepted. Returns undefined if none fits, and for UTF-8 with a few faults.
 */
export async function guessEncoding(
  source: ExtractionSource,
  kind: keyof typeof FAULT_SHARE,
): Promise<ReadableEncoding | UnreadableEncoding | undefined> {
  const { head, foreign } = await readSample(source)
  const ownName = declaredIn(head)
  const declared = source.charset ?? ownName
  if (declared !== undefined && (UNREADABLE.test(declared) || isUnreadableSevenBit(declared, foreign))) {
    return { kind: 'unreadable', name: declared }
  }
  for (const name of [markedEncoding(head), declared, ownName, sevenBitEncoding(foreign)]) {
    const fitting = name === undefined ? undefined : await tryEncoding(name, foreign, kind)
    if (fitting) return { ...fitting, isDeclared: true }
  }
  const wide = wideEncoding(foreign)
  if (wide !== undefined) return await tryEncoding(wide, foreign, kind)
  return isUtf8WithFaults(foreign) ? undefined : await detect(foreign, kind)
}

/** Returns whether the bytes are a text, or the beginning of one. */
export async function decodesAsText(source: ExtractionSource): Promise<boolean> {
  const { head, foreign } = await readSample(source)
  if (markedEncoding(head) === undefined && !foreign.includes(0)) {
    try {
      new TextDecoder('utf-8', { fatal: true }).decode(foreign, { stream: true })
      return true
    } catch {
      // It may be in another encoding.
    }
  }
  return (await guessEncoding(source, 'unknown'))?.kind === 'readable'
}

async function readSample(source: ExtractionSource): Promise<Sample> {
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

async function detect(sample: Buffer, kind: keyof typeof FAULT_SHARE): Promise<ReadableEncoding | undefined> {
  const { analyse } = await import('chardet')
  let best: { readonly fitting: Fitting; readonly score: number } | undefined
  for (const { name, confidence } of analyse(sample)) {
    // Encodings named UTF-… were ruled out before, by their marks and zero bytes.
    if (confidence < MIN_CONFIDENCE || name.startsWith('UTF-')) continue
    const fitting = await tryEncoding(name.toLowerCase(), sample, kind)
    const score = fitting ? confidence * (1 - fitting.faultShare) : 0
    if (fitting && score > (best?.score ?? 0)) best = { fitting, score }
  }
  return best?.fitting
}

/** With fewer zero bytes, a text does not count as UTF-16. */
const MIN_ZEROS = 8

/** Returns the UTF-16 encoding of a text without a mark: Latin letters, digits and blanks have a zero byte each, on the same side. */
function wideEncoding(sample: Buffer): string | undefined {
  const zeros = [0, 0]
  for (const [index, byte] of sample.entries()) if (byte === 0) zeros[index % 2] = (zeros[index % 2] ?? 0) + 1
  const [even = 0, odd = 0] = zeros
  const minZeros = Math.max(MIN_ZEROS, sample.length / 8)
  if (odd > minZeros && even < odd / 10) return 'utf-16le'
  return even > minZeros && odd < even / 10 ? 'utf-16be' : undefined
}

/** Returns whether valid characters of several bytes are at least as many as faults, or the only fault is a last character that is cut. */
function isUtf8WithFaults(sample: Buffer): boolean {
  const text = new TextDecoder('utf-8').decode(sample)
  const faults = text.split('\ufffd').length - 1
  const valid = text.replace(/[\p{ASCII}\ufffd]/gu, '').length
  return valid >= faults || (faults === 1 && text.endsWith('\ufffd'))
}

interface Fitting extends ReadableEncoding {
  /** Faults for each valid character that is not ASCII. */
  readonly faultShare: number
}

/** Returns the encoding of this name; undefined if it is unknown, or the sample has too many faults in it. */
async function tryEncoding(name: string, sample: Buffer, kind: keyof typeof FAULT_SHARE): Promise<Fitting | undefined> {
  const openDecoder = await findDecoder(name)
  if (!openDecoder) return undefined
  const text = openDecoder()(sample, false)
  const faults = text.match(FAULT)?.length ?? 0
  const valid = text.replace(FAULT, '').replace(/\p{ASCII}/gu, '').length
  const max = FAULT_SHARE[kind] * valid
  if (faults > (kind === 'text' && valid > 1 ? Math.max(1, max) : max)) return undefined
  return { kind: 'readable', name, isDeclared: false, openDecoder, faultShare: faults / Math.max(1, valid) }
}
