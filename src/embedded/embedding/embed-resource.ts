import type { Tables } from '../database/open-tables.ts'
import type { WriteQueue } from '../storage/write-queue.ts'
import { cutChunks } from './chunker.ts'
import { type Embedder, EmbedderError, type Vector } from './embedder.ts'
import { type EmbeddedChunk, packChunks } from './packed-vectors.ts'

interface PlacedChunk extends Omit<EmbeddedChunk, 'vector'> {
  readonly text: string
}

/** Some 15 chunks are in memory at a time, and are lost by a crash. */
const PASSAGES_A_STEP = 4
/** The first 600,000 characters of a resource; a longer text would keep all others waiting. */
const MAX_PASSAGES = 300
const HARMLESS_TEXT = 'text'

/**
 * Embeds the next chunks of a resource, after those that have vectors, and stores them in one transaction. Returns how many
 * vectors were added; the resource counts as embedded with the last of them. Throws EmbedderError.
 */
export async function embedNextChunks(parts: EmbeddingParts, resourceId: number): Promise<number> {
  const { tables, writes, embedder } = parts
  const { chunkVectors } = tables
  let lastOrdinal = chunkVectors.lastOrdinal(resourceId)
  let chunks: EmbeddedChunk[] = []
  let isWhole = false
  // Passages without any text that the model can judge leave no trace, so they are passed over in one step.
  while (chunks.length === 0 && !isWhole) {
    const ordinals = chunkVectors.ordinalsAfter(resourceId, lastOrdinal, PASSAGES_A_STEP)
    lastOrdinal = ordinals.at(-1) ?? lastOrdinal
    isWhole = ordinals.length < PASSAGES_A_STEP || lastOrdinal >= MAX_PASSAGES
    chunks = await embedChunks(embedder, readChunks(tables, resourceId, ordinals))
  }
  return await writes.write(() => {
    // Meanwhile a request may have deleted the library.
    if (!tables.resources.byId(resourceId)) return 0
    if (chunks.length > 0) chunkVectors.insert({ resourceId, lastOrdinal, ...packed(chunks) })
    if (isWhole) chunkVectors.finish(resourceId)
    return chunks.length
  })
}

function readChunks({ passages }: Tables, resourceId: number, ordinals: readonly number[]): PlacedChunk[] {
  return ordinals.flatMap((ordinal) =>
    cutChunks(passages.one(resourceId, ordinal)?.text ?? '').map((chunk) => ({ ordinal, ...chunk })),
  )
}

async function embedChunks(embedder: Embedder, chunks: readonly PlacedChunk[]): Promise<EmbeddedChunk[]> {
  if (chunks.length === 0) return []
  const vectors = await embedTexts(
    embedder,
    chunks.map(({ text }) => text),
  )
  return chunks.flatMap(({ ordinal, start }, index) => {
    const vector = vectors[index]
    return vector ? [{ ordinal, start, vector }] : []
  })
}

/** A text that is refused alone gets no vector, like one of an unknown language; the others of its request are sent again. */
async function embedTexts(embedder: Embedder, texts: readonly string[]): Promise<(Vector | undefined)[]> {
  try {
    return await embedder.embed(texts, 'document')
  } catch (error) {
    if (!isAboutText(error)) throw error
  }
  // An embedder that also refuses this text objects to something else, such as the name of the model.
  await embedder.embed([HARMLESS_TEXT], 'document')
  if (texts.length === 1) return [undefined]
  const vectors: (Vector | undefined)[] = []
  for (const text of texts) vectors.push(await embedUnlessRefused(embedder, text))
  return vectors
}

async function embedUnlessRefused(embedder: Embedder, text: string): Promise<Vector | undefined> {
  try {
    const [vector] = await embedder.embed([text], 'document')
    return vector
  } catch (error) {
    if (isAboutText(error)) return undefined
    throw error
  }
}

function isAboutText(error: unknown): boolean {
  return error instanceof EmbedderError && error.isAboutText
}

function packed(chunks: readonly EmbeddedChunk[]) {
  return { dimensions: chunks[0]?.vector.length ?? 0, chunkCount: chunks.length, chunks: packChunks(chunks) }
}

export interface EmbeddingParts {
  readonly tables: Tables
  readonly writes: WriteQueue
  readonly embedder: Embedder
}

/** The setting that names the embedder of all vectors that are stored. */
const EMBEDDER = 'embedder'

/**
 * Removes all vectors of another embedder, since they cannot be compared with those of this one; resolves with true if it was another
 * one. Call it before each use.
 */
export async function adoptEmbedder({ tables, writes, embedder }: EmbeddingParts): Promise<boolean> {
  const { settings, chunkVectors } = tables
  if (settings.read(EMBEDDER) === embedder.id) return false
  await writes.write(() => {
    chunkVectors.removeAll()
    settings.write(EMBEDDER, embedder.id)
  })
  return true
}
