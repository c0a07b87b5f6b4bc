import type { Tables } from '../database/open-tables.ts'
import type { WriteQueue } from '../storage/write-queue.ts'
import type { Embedder } from './embedder.ts'

export interface EmbeddingParts {
  readonly tables: Tables
  readonly writes: WriteQueue
  readonly embedder: Embedder
}

/** The setting that names the embedder of all vectors that are stored. */
const EMBEDDER = 'embedder'

/**
 * Removes all vectors of another embedder, since they cannot be compared with those of this one; resolves with true if it was another
 * one. Call it before each use: a model may change while the program runs. Throws EmbedderError.
 */
export async function adoptEmbedder({ tables, writes, embedder }: EmbeddingParts): Promise<boolean> {
  const id = await embedder.identify()
  const { settings, chunkVectors } = tables
  if (settings.read(EMBEDDER) === id) return false
  await writes.write(() => {
    chunkVectors.removeAll()
    settings.write(EMBEDDER, id)
  })
  return true
}

/** The id of the embedder that was adopted last. */
export function adoptedEmbedder({ tables: { settings } }: Pick<EmbeddingParts, 'tables'>): string | undefined {
  return settings.read(EMBEDDER)
}
