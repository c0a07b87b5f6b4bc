import type { Vector } from './embedder.ts'

/** A part of a passage that gets a vector of its own. */
export interface TextChunk {
  /** The offset in the passage. */
  readonly start: number
  readonly text: string
}

/** In characters. Small embedders read no longer texts, and in a longer text a single sentence hardly affects the vector. */
export const CHUNK_LENGTH = 600
const BORDERS = [/\n\s*\n/g, /[.!?]\s/g, /\n/g, /\s/g]

/** Cuts a passage into chunks of at most CHUNK_LENGTH characters, at paragraphs, sentences, lines or words where possible. */
export function cutChunks(passage: string): TextChunk[] {
  const chunks: TextChunk[] = []
  for (let start = 0; start < passage.length; ) {
    const end = start + chunkLength(passage.slice(start, start + CHUNK_LENGTH), start + CHUNK_LENGTH < passage.length)
    const text = passage.slice(start, end)
    if (/\S/.test(text)) chunks.push({ start, text })
    start = end
  }
  return chunks
}

/** Returns the length of the next chunk; `isCut` means that more of the passage follows after `text`. */
function chunkLength(text: string, isCut: boolean): number {
  if (!isCut) return text.length
  for (const border of BORDERS) {
    const last = [...text.matchAll(border)].at(-1)
    const end = last ? last.index + last[0].length : 0
    if (end >= CHUNK_LENGTH / 2) return end
  }
  return /[\ud800-\udbff]$/.test(text) ? text.length - 1 : text.length
}

/** A chunk of a passage with its vector. */
export interface EmbeddedChunk {
  readonly ordinal: number
  readonly start: number
  readonly vector: Vector
}

/** A stored chunk and the cosine of its vector with that of a query. */
export interface ComparedChunk {
  readonly ordinal: number
  readonly start: number
  readonly similarity: number
}

/** The bytes before each stored vector: ordinal (4), start (4), and the Euclidean length of the stored vector (4, float). */
const HEAD_BYTES = 12

/** Packs chunks. Each number of a vector is one byte, relative to the greatest one: the ranking is as good as with the exact numbers. */
export function packChunks(chunks: readonly EmbeddedChunk[]): Buffer {
  return Buffer.concat(chunks.map(packChunk))
}

function packChunk({ ordinal, start, vector }: EmbeddedChunk): Buffer {
  const packed = Buffer.alloc(HEAD_BYTES + vector.length)
  const bytes = toBytes(vector)
  packed.writeUInt32LE(ordinal, 0)
  packed.writeUInt32LE(start, 4)
  packed.writeFloatLE(Math.hypot(...bytes), 8)
  packed.set(new Uint8Array(bytes.buffer), HEAD_BYTES)
  return packed
}

function toBytes(vector: Vector): Int8Array {
  const greatest = vector.reduce((most, each) => Math.max(most, Math.abs(each)), 0)
  return Int8Array.from(vector, (each) => (greatest === 0 ? 0 : Math.round((each * 127) / greatest)))
}

/** Returns a function that compares packed chunks with a query. All vectors have the same number of dimensions. */
export function createComparison(query: Vector): (packed: Buffer) => ComparedChunk[] {
  const wanted = toBytes(query)
  const length = Math.hypot(...wanted)
  return (packed) => {
    const bytes = new Int8Array(packed.buffer, packed.byteOffset, packed.length)
    const compared: ComparedChunk[] = []
    for (let at = 0; at < packed.length; at += HEAD_BYTES + wanted.length) {
      const product = dotProduct(bytes, at + HEAD_BYTES, wanted)
      const lengths = length * packed.readFloatLE(at + 8)
      compared.push({
        ordinal: packed.readUInt32LE(at),
        start: packed.readUInt32LE(at + 4),
        similarity: lengths === 0 ? 0 : product / lengths,
      })
    }
    return compared
  }
}

/** Returns the dot product. Four sums side by side take a third less time than one. */
function dotProduct(bytes: Int8Array, at: number, wanted: Int8Array): number {
  let [one, two, three, four] = [0, 0, 0, 0]
  const even = wanted.length - (wanted.length % 4)
  for (let index = 0; index < even; index += 4) {
    one += (bytes[at + index] ?? 0) * (wanted[index] ?? 0)
    two += (bytes[at + index + 1] ?? 0) * (wanted[index + 1] ?? 0)
    three += (bytes[at + index + 2] ?? 0) * (wanted[index + 2] ?? 0)
    four += (bytes[at + index + 3] ?? 0) * (wanted[index + 3] ?? 0)
  }
  for (let index = even; index < wanted.length; index += 1) one += (bytes[at + index] ?? 0) * (wanted[index] ?? 0)
  return one + two + three + four
}
