import type { Vector } from '../embedder.ts'
import type { Pooling } from './model-settings.ts'

/** The vector of a text, of those of its tokens, which stand one after the other in `numbers`. */
export function poolTokens(numbers: Float32Array, tokenCount: number, pooling: Pooling): Vector {
  const length = numbers.length / tokenCount
  if (pooling === 'cls') return Float32Array.from(numbers.subarray(0, length))
  if (pooling === 'lasttoken') return Float32Array.from(numbers.subarray(-length))
  const sum = new Float32Array(length)
  for (const [index, number] of numbers.entries()) sum[index % length] = (sum[index % length] ?? 0) + number
  return sum.map((each) => each / tokenCount)
}
