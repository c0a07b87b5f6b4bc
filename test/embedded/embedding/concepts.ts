import type { Vector } from '../../../src/embedded/embedding/embedder.ts'

/** Words of one line mean the same to the models of the tests, which know no others. */
export const CONCEPTS = [
  ['car', 'automobile', 'vehicle'],
  ['salary', 'wages', 'pay'],
  ['doctor', 'physician', 'surgeon'],
  ['ship', 'vessel', 'boat'],
]

/** The cosine of the angle between two vectors of any length. */
export function similarityOf(one: Vector | undefined, other: Vector | undefined): number {
  if (!one || !other) throw new Error('A text has no vector')
  const product = one.reduce((sum, each, index) => sum + each * (other[index] ?? 0), 0)
  return product / (Math.hypot(...one) * Math.hypot(...other))
}
