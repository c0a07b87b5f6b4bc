import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { compareDirectory, isRacyHash } from '../../../src/rules/observe/compare-directory.ts'

const fingerprint = fc.record({
  sizeBytes: fc.nat({ max: 3 }),
  mtimeNs: fc.bigInt({ min: 0n, max: 3n }),
  ctimeNs: fc.bigInt({ min: 0n, max: 3n }),
  inode: fc.bigInt({ min: 0n, max: 3n }),
})
const name = fc.constantFrom('a', 'b', 'c', 'd', 'e', '__proto__', 'toString')
const found = fc.uniqueArray(fc.record({ name, fingerprint }), { selector: (file) => file.name })
const known = fc.uniqueArray(fc.record({ name, fingerprint, isRacy: fc.boolean() }), { selector: (row) => row.name })

type Known = {
  name: string
  fingerprint: { sizeBytes: number; mtimeNs: bigint; ctimeNs: bigint; inode: bigint }
  isRacy: boolean
}

function rowOf({ name, fingerprint: { sizeBytes, mtimeNs, ctimeNs, inode }, isRacy }: Known) {
  return [name, BigInt(sizeBytes), mtimeNs, ctimeNs, inode, isRacy ? 1n : 0n] as const
}

describe('comparing a directory with the store', () => {
  test('the comparison accounts for every name exactly once', () => {
    fc.assert(
      fc.property(found, known, fc.boolean(), (files, rows, hashEverything) => {
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

  test('the comparison believes only an equal and old fingerprint', () => {
    fc.assert(
      fc.property(found, known, (files, rows) => {
        const unproven = new Set(compareDirectory(files, rows.map(rowOf)).unproven.map(({ file }) => file.name))
        for (const file of files) {
          const row = rows.find((known) => known.name === file.name)
          const isSame =
            row !== undefined && rowOf({ ...row, fingerprint: file.fingerprint }).join() === rowOf(row).join()
          expect(unproven.has(file.name)).toBe(!isSame || row.isRacy)
        }
      }),
    )
  })

  test('the comparison distinguishes a changed file from a new one', () => {
    fc.assert(
      fc.property(found, known, (files, rows) => {
        for (const { file, isKnown } of compareDirectory(files, rows.map(rowOf), true).unproven) {
          expect(isKnown).toBe(rows.some((row) => row.name === file.name))
        }
      }),
    )
  })
})

describe('a hash', () => {
  test('a hash is proof only two seconds after the newest time', () => {
    const timesAt = (mtimeMs: number, ctimeMs: number) => ({
      sizeBytes: 1,
      inode: 1n,
      mtimeNs: BigInt(mtimeMs) * 1_000_000n,
      ctimeNs: BigInt(ctimeMs) * 1_000_000n,
    })
    fc.assert(
      fc.property(fc.nat(1e6), fc.nat(1e6), fc.nat(2e6), (mtimeMs, ctimeMs, hashedAtMs) => {
        const isRacy = isRacyHash(timesAt(mtimeMs, ctimeMs), hashedAtMs)
        expect(isRacy).toBe(hashedAtMs < Math.max(mtimeMs, ctimeMs) + 2_000)
      }),
    )
  })
})
