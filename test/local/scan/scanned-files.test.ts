import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type ListedFile, ListedFiles } from '../../../src/local/scan/stat-entry.ts'

const timeNs = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n })
const fingerprint = fc.record({
  sizeBytes: fc.maxSafeNat(),
  mtimeNs: timeNs,
  ctimeNs: timeNs,
  inode: fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }),
})

function statsOf({ sizeBytes, mtimeNs, ctimeNs, inode }: ListedFile['fingerprint']) {
  return { size: BigInt(sizeBytes), mtimeNs, ctimeNs, ino: inode }
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
        for (const { name, fingerprint } of given) files.push(name, statsOf(fingerprint))
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
  for (let index = 0; index < 10_000; index += 1) files.push(`${index}`, statsOf(same))
  expect([...files.portions()].map(({ length }) => length)).toEqual([4_096, 4_096, 1_808])
})
