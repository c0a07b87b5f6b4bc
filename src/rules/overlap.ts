/** How two directories, given by their real paths, lie to each other. */
export type Overlap =
  | { readonly kind: 'apart' }
  | { readonly kind: 'same' }
  /** `inner` is the second one's path below the first, or the first one's below the second. */
  | { readonly kind: 'holds' | 'lies-in'; readonly inner: string }

export function overlapOf(left: string, right: string): Overlap {
  if (left === right) return { kind: 'same' }
  const rightInLeft = pathBelow(left, right)
  if (rightInLeft !== undefined) return { kind: 'holds', inner: rightInLeft }
  const leftInRight = pathBelow(right, left)
  return leftInRight === undefined ? { kind: 'apart' } : { kind: 'lies-in', inner: leftInRight }
}

function pathBelow(outer: string, path: string): string | undefined {
  const start = outer.replace(/\/?$/, '/')
  return path.startsWith(start) ? path.slice(start.length) : undefined
}
