/** The pool of contents from which simulated files take their bytes. */
import { hash } from 'node:crypto'

export const CONTENTS = 12

/** Sent in three chunks. */
const LARGE = Buffer.alloc(140_000, 'a line of a larger file\n')

/** Mostly small, one empty, one that is sent in several chunks. */
const POOL: readonly Uint8Array[] = Array.from({ length: CONTENTS }, (_, content) => {
  if (content === 1) return LARGE
  return Buffer.from(`content ${content} `.repeat(content === 0 ? 0 : 1 + content))
})

/** The bytes of a content of the pool; they are never changed. */
export function bytesOf(content: number): Uint8Array {
  return POOL[content % CONTENTS] ?? LARGE
}

const hashes = new WeakMap<Uint8Array, string>()

/** In hexadecimal; of bytes that are never changed it is computed once. */
export function sha256Of(bytes: Uint8Array): string {
  const known = hashes.get(bytes) ?? hash('sha256', bytes, 'hex')
  hashes.set(bytes, known)
  return known
}
