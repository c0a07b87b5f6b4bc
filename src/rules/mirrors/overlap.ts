import { pathWithin } from '../../foundation/files/paths.ts'

/** How two directories, given by their real paths, overlap. */
export type Overlap =
  | { readonly kind: 'apart' }
  | { readonly kind: 'same' }
  /** `inner` is the second one's path below the first, or the first one's below the second. */
  | { readonly kind: 'holds' | 'lies-in'; readonly inner: string }

export function overlapOf(left: string, right: string): Overlap {
  if (left === right) return { kind: 'same' }
  const rightInLeft = pathWithin(left, right)
  if (rightInLeft !== undefined) return { kind: 'holds', inner: rightInLeft }
  const leftInRight = pathWithin(right, left)
  return leftInRight === undefined ? { kind: 'apart' } : { kind: 'lies-in', inner: leftInRight }
}
