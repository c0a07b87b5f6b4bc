import type { Tables } from '../database/open-tables.ts'
import type { WriteQueue } from '../storage/write-queue.ts'
import { cutChunks, type EmbeddedChunk, packChunks } from './chunks.ts'
import { type Embedder, EmbedderError, type Vector } from './embedder.ts'

interface ChunkToEmbed extends Omit<EmbeddedChunk, 'vector'> {
  readonly text: string
}

/** These passages have about 15 chunks, which are in memory until they are stored together. */
const PASSAGES_A_STEP = 4
/** Of a longer resource, only the first 600,000 characters are embedded, since other resources wait meanwhile. */
const MAX_PASSAGES = 300
const HARMLESS_TEXT = 'text'

/**
 * Embeds the next chunks of a resource that have no vectors yet, and stores the vectors in one transaction. Returns how many were added.
 * With the last one, the resource is marked as embedded. Throws EmbedderError.
 */
export async function embedNextChunks(parts: EmbeddingParts, resourceId: number): Promise<number> {
  const { tables, writes, embedder } = parts
  const { chunkVectors } = tables
  let lastOrdinal = chunkVectors.lastOrdinal(resourceId)
  let chunks: EmbeddedChunk[] = []
  let isWhole = false
  // Nothing is stored for passages that the model cannot judge, so this goes on to the next passage with a vector.
  while (chunks.length === 0 && !isWhole) {
    const ordinals = chunkVectors.ordinalsAfter(resourceId, lastOrdinal, PASSAGES_A_STEP)
    lastOrdinal = ordinals.at(-1) ?? lastOrdinal
    isWhole = ordinals.length < PASSAGES_A_STEP || lastOrdinal >= MAX_PASSAGES
    chunks = await embedChunks(embedder, readChunks(tables, resourceId, ordinals))
  }
  return await writes.write(() => {
    // A request may have deleted the library meanwhile.
    if (!tables.resources.byId(resourceId)) return 0
    if (chunks.length > 0) chunkVectors.insert({ resourceId, lastOrdinal, ...packed(chunks) })
    if (isWhole) chunkVectors.finish(resourceId)
    return chunks.length
  })
}

function readChunks({ passages }: Tables, resourceId: number, ordinals: readonly number[]): ChunkToEmbed[] {
  return ordinals.flatMap((ordinal) =>
    cutChunks(passages.one(resourceId, ordinal)?.text ?? '').map((chunk) => ({ ordinal, ...chunk })),
  )
}

async function embedChunks(embedder: Embedder, chunks: readonly ChunkToEmbed[]): Promise<EmbeddedChunk[]> {
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

/** Returns the vectors of texts. If the embedder refuses them together, sends each one alone; a refused one gets no vector. */
async function embedTexts(embedder: Embedder, texts: readonly string[]): Promise<(Vector | undefined)[]> {
  try {
    return await embedder.embed(texts, 'document')
  } catch (error) {
    if (!isAboutText(error)) throw error
  }
  // If the embedder also refuses this harmless text, the texts are not the reason, but perhaps the name of the model: this throws.
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

/** The setting with the id of the embedder that made all stored vectors. */
const EMBEDDER = 'embedder'

/**
 * Removes all stored vectors if another embedder made them, since vectors of two embedders cannot be compared. Resolves with true if the
 * embedder has changed. Call it before each use of the embedder or the vectors.
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
