import { renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { ContentWriter, packedPath } from '../../../src/embedded/contents/content-file.ts'
import { createPartReader } from '../../../src/embedded/contents/read-part.ts'
import { temporaryDirectory } from '../temporary-library.ts'

/** Of 40 frames, which is more than a reader keeps; the one with zeros is stored as it is. */
const CONTENTS = ['gannet', 'petrel', '\0'].map((word) =>
  Buffer.from(Array.from({ length: 200_000 }, (_, number) => `${word} ${number}\n`).join('')).subarray(0, 2_600_000),
)

async function write(path: string, content: Buffer): Promise<void> {
  await using writer = await ContentWriter.create(`${path}.new`)
  await writer.write([content])
  await writer.finish()
  renameSync(writer.temporaryFile, writer.isPacked ? packedPath(path) : path)
}

it('parts of several contents in any order are exactly their bytes', async () => {
  const directory = temporaryDirectory()
  for (const [index, content] of CONTENTS.entries()) await write(join(directory, String(index)), content)
  const read = createPartReader()
  const place = fc.tuple(fc.nat(CONTENTS.length - 1), fc.nat(2_700_000), fc.nat(150_000))
  fc.assert(
    fc.property(place, ([index, start, length]) => {
      const range = { start, end: start + length }
      const part = read(join(directory, String(index)), range)
      expect(part?.equals(CONTENTS[index]?.subarray(start, range.end + 1) ?? Buffer.alloc(0))).toBe(true)
    }),
    { numRuns: 300 },
  )
  expect(read(join(directory, 'none'), { start: 0, end: 1 })).toBeUndefined()
  rmSync(packedPath(join(directory, '0')))
  expect(read(join(directory, '0'), { start: 0, end: 1 })).toBeUndefined()
})
