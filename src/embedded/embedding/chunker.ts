/** A part of a passage that is embedded as a whole. */
export interface TextChunk {
  /** Its offset in the passage. */
  readonly start: number
  readonly text: string
}

/** Small embedders read no more, and in larger ones a sentence is lost among others. */
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

function chunkLength(text: string, goesOn: boolean): number {
  if (!goesOn) return text.length
  for (const border of BORDERS) {
    const last = [...text.matchAll(border)].at(-1)
    const end = last ? last.index + last[0].length : 0
    if (end >= CHUNK_LENGTH / 2) return end
  }
  return /[\ud800-\udbff]$/.test(text) ? text.length - 1 : text.length
}
