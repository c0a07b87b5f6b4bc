import { randomBytes } from 'node:crypto'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { DamagedBytesError, packBytes, unpackBytes } from '../../../src/embedded/contents/packed-bytes.ts'

it('packed bytes unpack unchanged', () => {
  const repeated = fc.tuple(fc.uint8Array({ maxLength: 40 }), fc.nat(50)).map(([piece, count]) => {
    return Buffer.concat(Array.from({ length: count }, () => piece))
  })
  fc.assert(
    fc.property(repeated, (bytes) => {
      expect(unpackBytes(packBytes(bytes), bytes.length)).toEqual(bytes)
    }),
  )
})

it('bytes that compression makes longer are stored unpacked', () => {
  for (const bytes of [randomBytes(1_000), packBytes(Buffer.alloc(1_000)), Buffer.from('a'), Buffer.alloc(0)]) {
    expect(packBytes(bytes)).toBe(bytes)
    expect(unpackBytes(bytes, bytes.length)).toBe(bytes)
  }
})

it('stored bytes of another size are recognised as damaged', () => {
  const packed = packBytes(Buffer.alloc(1_000, 'text '))
  const unlike = [packed.subarray(1), packed.subarray(0, -1), Buffer.from('other'), Buffer.alloc(2_000)]
  for (const stored of unlike) expect(() => unpackBytes(stored, 1_000)).toThrow(DamagedBytesError)
  for (const sizeBytes of [999, 1_001]) expect(() => unpackBytes(packed, sizeBytes)).toThrow(DamagedBytesError)
})
