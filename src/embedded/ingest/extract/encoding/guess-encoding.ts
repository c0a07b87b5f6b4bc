import { analyse } from 'chardet'
import type { ExtractionSource } from '../extraction.ts'
import { openDecoder, sevenBitEncoding } from './seven-bit-encoding.ts'

export interface GuessedEncoding {
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
  const name = wideEncoding(foreign) ?? (isUtf8WithFaults(foreign) ? undefined : detect(foreign))
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

function detect(sample: Buffer): string | undefined {
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
