import type { ExtractionSource } from './extraction.ts'

/** The bytes are not valid in the encoding of the text. */
export class UndecodableError extends Error {}

/** Decodes text that arrives in pieces. */
export interface TextDecoding {
  decode(bytes: Buffer, isLast: boolean): string
}

/**
 * Decodes UTF-8, or UTF-16 when the first bytes are its byte order mark. Throws UndecodableError at the first invalid byte, and in
 * UTF-8 at a zero byte, which no text holds, and at an escape sequence that switches to another encoding.
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

/** Decodes text in an encoding that was guessed, otherwise UTF-8; replaces an invalid byte by U+FFFD. */
export function decodeLeniently(guess: ReadableEncoding | undefined): TextDecoding {
  return withoutMark(guess ? guess.openDecoder() : openNativeDecoder('utf-8'))
}

/** Leaves out one mark: Node's decoder leaves out two of them when the first piece ends within the first one. */
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
  // It begins like the next one, which no zero follows in a text.
  ['utf-32le', Buffer.from([0xff, 0xfe, 0, 0])],
  ['utf-16le', Buffer.from([0xff, 0xfe])],
  ['utf-16be', Buffer.from([0xfe, 0xff])],
  ['utf-32be', Buffer.from([0, 0, 0xfe, 0xff])],
]

function markedEncoding(bytes: Buffer): string | undefined {
  return MARKS.find(([, mark]) => bytes.subarray(0, mark.length).equals(mark))?.[0]
}

/** Encodings whose bytes are all ASCII, and which switch to another set of characters by an escape sequence. */
type SevenBitEncoding = 'iso-2022-jp' | 'iso-2022-kr'

/** Decodes bytes that arrive in pieces; replaces invalid ones, or throws TypeError if it is fatal. */
type Decoder = (bytes: Buffer, isLast: boolean) => string

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

function openNativeDecoder(name: string, fatal = false): Decoder {
  const decoder = new TextDecoder(name, { fatal, ignoreBOM: true })
  return (bytes, isLast) => decoder.decode(bytes, { stream: !isLast })
}

/** Between the shifts, the bytes are those of EUC-KR without their highest bits. */
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

/** Encodings of TextDecoder that are mostly meant with the characters that were added to them later, which it does not know. */
const EXTENDED: Readonly<Record<string, string>> = { 'euc-kr': 'cp949', big5: 'big5-hkscs' }
/** Encodings of iconv-lite alone; it also has names that are not encodings of text, such as base64. */
const FURTHER = /^(?:utf-?32|cp-?\d|ibm-?\d|mac|koi8|viscii|tcvn|armscii|georgian)/i

/** Returns what opens a decoder that replaces invalid bytes; undefined for an encoding that is not known. */
async function findDecoder(name: string): Promise<(() => Decoder) | undefined> {
  if (name === 'iso-2022-kr') return openKoreanDecoder
  const native = nativeName(name)
  const further = native === undefined ? (FURTHER.test(name) ? name : undefined) : EXTENDED[native]
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
  /** The text itself or its sender names this encoding. */
  readonly isDeclared: boolean
  readonly openDecoder: () => Decoder
}

/** An encoding that the text names and that nothing here can read. */
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
/** Encodings whose bytes are all ASCII, so that they would pass for UTF-8, and by what they begin Chinese text. */
const UNREADABLE_SEVEN_BIT = [
  [/^hz(?:-gb-2312)?$/, '~{'],
  [/^iso-2022-cn/, '\x1b$'],
] as const

function isUnreadableSevenBit(declared: string | undefined, bytes: Buffer): boolean {
  if (declared === undefined) return false
  return UNREADABLE_SEVEN_BIT.some(([name, beginning]) => name.test(declared) && bytes.includes(beginning))
}

/** Below this, the detection is no better than chance (of 100). */
const MIN_CONFIDENCE = 15

/** No text holds these, but any other data decoded by a single-byte encoding does. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for
const FAULT = /[\u0000-\u0008\u000b\u000e-\u001a\u001c-\u001f\u007f-\u009f\ufffd]/gu

/** The greatest share of faults among the characters that are not ASCII. One fault is never too much for what is known to be text. */
const MAX_FAULTS = { text: 0.1, unknown: 0.01 }

/** The bytes by which the encoding is recognized; they do not depend on how the text is cut into chunks. */
interface Sample {
  readonly head: Buffer
  /** From shortly before the first byte that is not ASCII, or an escape; begins at an even position. */
  readonly foreign: Buffer
}

const SAMPLE_BYTES = 64 * 1024
const LEAD_BYTES = 1_024

/**
 * Finds the encoding of text that is not valid UTF-8: the one that its mark, its sender or the text itself names, also with a few faults,
 * otherwise the one that fits its bytes best. Undefined when none fits, and for UTF-8 with single faults.
 */
export async function guessEncoding(
  source: ExtractionSource,
  kind: keyof typeof MAX_FAULTS,
): Promise<ReadableEncoding | UnreadableEncoding | undefined> {
  const { head, foreign } = await takeSample(source)
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

/** True for bytes that are the whole or the beginning of a text. */
export async function decodesAsText(source: ExtractionSource): Promise<boolean> {
  const { head, foreign } = await takeSample(source)
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

async function detect(sample: Buffer, kind: keyof typeof MAX_FAULTS): Promise<ReadableEncoding | undefined> {
  const { analyse } = await import('chardet')
  let best: { readonly fitting: Fitting; readonly score: number } | undefined
  for (const { name, confidence } of analyse(sample)) {
    // Their marks and zero bytes were looked for before.
    if (confidence < MIN_CONFIDENCE || name.startsWith('UTF-')) continue
    const fitting = await tryEncoding(name.toLowerCase(), sample, kind)
    const score = fitting ? confidence * (1 - fitting.faultShare) : 0
    if (fitting && score > (best?.score ?? 0)) best = { fitting, score }
  }
  return best?.fitting
}

/** Fewer zero bytes are no sign of UTF-16. */
const MIN_ZEROS = 8

/** UTF-16 without a byte order mark: Latin letters, digits and blanks have a zero byte each, always on the same side. */
function wideEncoding(sample: Buffer): string | undefined {
  const zeros = [0, 0]
  for (const [index, byte] of sample.entries()) if (byte === 0) zeros[index % 2] = (zeros[index % 2] ?? 0) + 1
  const [even = 0, odd = 0] = zeros
  const many = Math.max(MIN_ZEROS, sample.length / 8)
  if (odd > many && even < odd / 10) return 'utf-16le'
  return even > many && odd < even / 10 ? 'utf-16be' : undefined
}

/** True when there are at least as many whole characters of several bytes as faults, or the text is cut amid its last character. */
function isUtf8WithFaults(sample: Buffer): boolean {
  const text = new TextDecoder('utf-8').decode(sample)
  const faults = text.split('\ufffd').length - 1
  const whole = text.replace(/[\p{ASCII}\ufffd]/gu, '').length
  return whole >= faults || (faults === 1 && text.endsWith('\ufffd'))
}

interface Fitting extends ReadableEncoding {
  /** The share among the characters that are not ASCII. */
  readonly faultShare: number
}

/** Undefined when the encoding is not known or the sample has too many faults in it. */
async function tryEncoding(name: string, sample: Buffer, kind: keyof typeof MAX_FAULTS): Promise<Fitting | undefined> {
  const openDecoder = await findDecoder(name)
  if (!openDecoder) return undefined
  const text = openDecoder()(sample, false)
  const faults = text.match(FAULT)?.length ?? 0
  const whole = text.replace(FAULT, '').replace(/\p{ASCII}/gu, '').length
  const most = MAX_FAULTS[kind] * whole
  if (faults > (kind === 'text' && whole > 1 ? Math.max(1, most) : most)) return undefined
  return { kind: 'readable', name, isDeclared: false, openDecoder, faultShare: faults / Math.max(1, whole) }
}
