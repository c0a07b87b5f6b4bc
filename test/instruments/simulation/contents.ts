/** The pool of contents from which simulated files take their bytes. */
import { hash } from 'node:crypto'

export const CONTENTS = 12
export const NAMES = ['note.md', 'plan.txt', 'x.pdf', 'Übung.md', 'note.txt', 'a.csv']

/** Sent in three chunks. */
const LARGE = Buffer.alloc(140_000, 'a line of a larger file\n')

/** Mostly small, one empty, one that is sent in several chunks; from the seventh on they are of one size. */
const POOL: readonly Uint8Array[] = Array.from({ length: CONTENTS }, (_, content) => {
  if (content === 1) return LARGE
  return Buffer.from(`content ${String(content).padStart(2, '0')} `.repeat(content === 0 ? 0 : Math.min(content, 6)))
})

/** From this number on each content is like no other. */
export const FRESH = 1_000

/** The bytes of a content, as a rule of the pool; they are never changed. */
export function bytesOf(content: number): Uint8Array {
  if (content >= FRESH) return Buffer.from(`fresh ${content}`)
  return POOL[content % CONTENTS] ?? LARGE
}

/** Another content of the same size; undefined: there is none. */
export function anotherOfSize(bytes: Uint8Array): Uint8Array | undefined {
  const alike = POOL.filter(({ length }) => length === bytes.length)
  const next = alike[(alike.findIndex((other) => Buffer.compare(other, bytes) === 0) + 1) % alike.length]
  return alike.length > 1 ? next : undefined
}

const hashes = new WeakMap<Uint8Array, string>()

/** In hexadecimal; of bytes that are never changed it is computed once. */
export function sha256Of(bytes: Uint8Array): string {
  const known = hashes.get(bytes) ?? hash('sha256', bytes, 'hex')
  hashes.set(bytes, known)
  return known
}
