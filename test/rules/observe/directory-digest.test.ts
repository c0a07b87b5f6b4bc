import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { digestDirectory as digestColumns } from '../../../src/rules/observe/directory-digest.ts'

type File = { name: string; fingerprint: { sizeBytes: number; mtimeNs: bigint; ctimeNs: bigint; inode: bigint } }

function digestDirectory(files: readonly File[]) {
  const numbers = files.flatMap(({ fingerprint: { sizeBytes, mtimeNs, ctimeNs, inode } }) => [
    BigInt(sizeBytes),
    mtimeNs,
    ctimeNs,
    inode,
  ])
  return digestColumns({ names: files.map(({ name }) => name), numbers: BigUint64Array.from(numbers) })
}

const number = fc.bigInt({ min: 0n, max: 2n ** 63n - 1n })
const file = fc.record({
  name: fc.string({ minLength: 1, maxLength: 40, unit: 'grapheme' }).filter((name) => !name.includes('\0')),
  fingerprint: fc.record({ sizeBytes: fc.nat(), mtimeNs: number, ctimeNs: number, inode: number }),
})
const files = fc.uniqueArray(file, { selector: ({ name }) => name, maxLength: 12 })

describe('the digest of a directory', () => {
  test('the digests of two directories are equal for equal listings alone', () => {
    fc.assert(
      fc.property(files, files, (one, other) => {
        const isSame = JSON.stringify(one, texts) === JSON.stringify(other, texts)
        expect(digestDirectory(one).equals(digestDirectory(other))).toBe(isSame)
      }),
    )
  })

  test('the digest of a directory differs when any one number differs', () => {
    const key = fc.constantFrom('mtimeNs', 'ctimeNs', 'inode')
    fc.assert(
      fc.property(fc.tuple(files, file), fc.nat(), key, ([others, last], at, name) => {
        const all = [...others, last]
        const changed = all.map((entry, index) => {
          if (index !== at % all.length) return entry
          return { ...entry, fingerprint: { ...entry.fingerprint, [name]: entry.fingerprint[name] ^ 1n } }
        })
        expect(digestDirectory(changed).equals(digestDirectory(all))).toBe(false)
      }),
    )
  })
})

function texts(_: string, value: unknown): unknown {
  return typeof value === 'bigint' ? String(value) : value
}
