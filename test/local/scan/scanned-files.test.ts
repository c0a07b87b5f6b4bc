import fc from 'fast-check'
import { expect, test } from 'vitest'
import { fingerprintOf } from '../../../src/local/read/file-system.ts'
import { type ListedFile, ListedFiles } from '../../../src/local/scan/stat-entry.ts'

/** Numbers as file systems report them, of which the kernel keeps seconds in 64 bits. */
const timeNs = fc.bigInt({ min: -(2n ** 94n), max: 2n ** 94n })
const size = fc.maxSafeNat().map(BigInt)
const stats = fc.record({
  size,
  mtimeNs: timeNs,
  ctimeNs: timeNs,
  ino: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 64n - 1n }),
})
const fingerprint = stats.map(fingerprintOf)

test('a fingerprint has numbers that the database can hold, whatever the system reports [F-FS-28, F-FS-29]', () => {
  fc.assert(
    fc.property(stats, (stats) => {
      const { mtimeNs, ctimeNs, inode } = fingerprintOf(stats)
      for (const number of [mtimeNs, ctimeNs, inode]) expect(BigInt.asIntN(64, number)).toBe(number)
      expect(BigInt.asUintN(64, inode)).toBe(BigInt.asUintN(64, stats.ino))
      expect([mtimeNs, ctimeNs].map(nearest)).toEqual([stats.mtimeNs, stats.ctimeNs].map(nearest))
    }),
  )
})

/** The time itself, where 64 bits can count it, else on which side it lies. */
function nearest(timeNs: bigint): bigint {
  if (timeNs >= 2n ** 63n - 1n) return 2n ** 63n - 1n
  return timeNs <= -(2n ** 63n) ? -(2n ** 63n) : timeNs
}

test('files of a large directory come back unchanged', () => {
  fc.assert(
    fc.property(
      fc.array(fingerprint, { minLength: 1, maxLength: 20 }),
      fc.integer({ min: 0, max: 9_000 }),
      (some, count) => {
        const files = new ListedFiles(count)
        const given: ListedFile[] = []
        for (let index = 0; index < count; index += 1) {
          const chosen = some[index % some.length]
          if (chosen) given.push({ name: `file-${index}`, fingerprint: chosen })
        }
        for (const { name, fingerprint } of given) files.push(name, fingerprint)
        expect(files.length).toBe(given.length)
        expect([...files]).toEqual(given)
        expect([...files.names]).toEqual(given.map(({ name }) => name))
      },
    ),
    { numRuns: 20 },
  )
})

test('only one portion of a large directory is unpacked at a time [P21]', () => {
  const files = new ListedFiles(10_000)
  const same = { sizeBytes: 1, mtimeNs: 2n, ctimeNs: 3n, inode: 4n }
  for (let index = 0; index < 10_000; index += 1) files.push(`${index}`, same)
  expect([...files.portions()].map(({ length }) => length)).toEqual([4_096, 4_096, 1_808])
})
