import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { compareDirectory, digestDirectory as digestColumns, isRacyHash } from '../../src/rules/compare-directory.ts'

const fingerprint = fc.record({
  sizeBytes: fc.nat({ max: 3 }),
  mtimeNs: fc.bigInt({ min: 0n, max: 3n }),
  ctimeNs: fc.bigInt({ min: 0n, max: 3n }),
  inode: fc.bigInt({ min: 0n, max: 3n }),
})
const name = fc.constantFrom('a', 'b', 'c', 'd', 'e', '__proto__', 'toString')
const found = fc.uniqueArray(fc.record({ name, fingerprint }), { selector: (file) => file.name })
const stored = fc.uniqueArray(fc.record({ name, fingerprint, isRacy: fc.boolean() }), { selector: (row) => row.name })

type StoredFile = {
  name: string
  fingerprint: { sizeBytes: number; mtimeNs: bigint; ctimeNs: bigint; inode: bigint }
  isRacy: boolean
}

function rowOf({ name, fingerprint: { sizeBytes, mtimeNs, ctimeNs, inode }, isRacy }: StoredFile) {
  return [name, BigInt(sizeBytes), mtimeNs, ctimeNs, inode, isRacy ? 1n : 0n] as const
}

describe('comparing a directory with the store', () => {
  test('the comparison accounts for every name exactly once [P19]', () => {
    fc.assert(
      fc.property(found, stored, fc.boolean(), (files, rows, hashEverything) => {
        const compared = compareDirectory(files, rows.map(rowOf), hashEverything)
        expect(compared.unchangedCount + compared.unproven.length).toBe(files.length)
        const names = new Set(files.map((file) => file.name))
        expect([...compared.missing].sort()).toEqual(
          rows
            .map((row) => row.name)
            .filter((name) => !names.has(name))
            .sort(),
        )
      }),
    )
  })

  test('the comparison believes only an equal and old fingerprint [F-FS-17, F-FS-18]', () => {
    fc.assert(
      fc.property(found, stored, (files, rows) => {
        const unproven = new Set(compareDirectory(files, rows.map(rowOf)).unproven.map(({ file }) => file.name))
        for (const file of files) {
          const row = rows.find((each) => each.name === file.name)
          const isSame =
            row !== undefined && rowOf({ ...row, fingerprint: file.fingerprint }).join() === rowOf(row).join()
          expect(unproven.has(file.name)).toBe(!isSame || row.isRacy)
        }
      }),
    )
  })

  test('the comparison distinguishes a changed file from a new one', () => {
    fc.assert(
      fc.property(found, stored, (files, rows) => {
        for (const { file, isInStore } of compareDirectory(files, rows.map(rowOf), true).unproven) {
          expect(isInStore).toBe(rows.some((row) => row.name === file.name))
        }
      }),
    )
  })
})

test('a hash is proof only if neither time is within two seconds of it [F-FS-17, F-FS-19]', () => {
  const timesAt = (mtimeMs: number, ctimeMs: number) => ({
    sizeBytes: 1,
    inode: 1n,
    mtimeNs: BigInt(mtimeMs) * 1_000_000n,
    ctimeNs: BigInt(ctimeMs) * 1_000_000n,
  })
  fc.assert(
    fc.property(fc.nat(1e4), fc.nat(1e4), fc.nat(1e4), (mtimeMs, ctimeMs, hashedAtMs) => {
      const isRacy = isRacyHash(timesAt(mtimeMs, ctimeMs), hashedAtMs)
      const distanceMs = Math.min(Math.abs(hashedAtMs - mtimeMs), Math.abs(hashedAtMs - ctimeMs))
      expect(isRacy).toBe(distanceMs < 2_000)
    }),
  )
})

type File = { name: string; fingerprint: { sizeBytes: number; mtimeNs: bigint; ctimeNs: bigint; inode: bigint } }

function digestDirectory(files: readonly File[]) {
  const numbers = files.flatMap(({ fingerprint: { sizeBytes, mtimeNs, ctimeNs, inode } }) => [
    BigInt(sizeBytes),
    mtimeNs,
    ctimeNs,
    inode,
  ])
  return digestColumns({ names: files.map(({ name }) => name), numbers: BigInt64Array.from(numbers) })
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

  test('the digest of a directory differs when any one number differs [F-FS-18]', () => {
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
