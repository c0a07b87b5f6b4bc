import type { FoundResource } from '../find-resources.ts'
import type { NearChunk } from './nearest-chunks.ts'

/** A resource that was found by its terms, by its meaning, or by both. */
export interface FusedResource {
  readonly resourceId: number
  /** Its passages that have terms, the best first. */
  readonly ordinals: readonly number[]
  /** Undefined unless its meaning ranks it higher than its terms. */
  readonly chunk: NearChunk | undefined
}

/** Reciprocal rank fusion: a rank counts 1 / (K + rank). Chosen with the weight by `npm run search-quality`. */
const K = 10
const MEANING_WEIGHT = 2

/** Merges what was found by terms and by meaning, each the best first, into one ranking. */
export function fuseRanks(byTerms: readonly FoundResource[], byMeaning: readonly NearChunk[]): FusedResource[] {
  const fused = new Map<number, FusedResource & { readonly score: number }>()
  for (const [rank, { resourceId, ordinals }] of byTerms.entries()) {
    fused.set(resourceId, { resourceId, ordinals, chunk: undefined, score: 1 / (K + rank + 1) })
  }
  for (const [rank, chunk] of byMeaning.entries()) {
    const { resourceId } = chunk
    const known = fused.get(resourceId)
    const score = MEANING_WEIGHT / (K + rank + 1)
    const isNearer = !known || score > known.score
    fused.set(resourceId, {
      resourceId,
      ordinals: known?.ordinals ?? [],
      chunk: isNearer ? chunk : undefined,
      score: score + (known?.score ?? 0),
    })
  }
  return [...fused.values()].sort((one, other) => other.score - one.score || one.resourceId - other.resourceId)
}
