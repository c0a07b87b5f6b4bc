import { readFileSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { zstdDecompressSync } from 'node:zlib'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { ContentWriter, packedPath, plainPath, streamContent } from '../../../src/embedded/contents/content-file.ts'
import { DamagedBytesError } from '../../../src/embedded/contents/packed-bytes.ts'
import { temporaryDirectory } from '../temporary-library.ts'

const TEXT = Buffer.from(Array.from({ length: 20_000 }, (_, number) => `Pelican ${number} dives.\n`).join(''))

/** Returns the file that was written. */
async function write(path: string, content: Buffer, chunkBytes = 70_000): Promise<string> {
  await using writer = await ContentWriter.create(`${path}.new`)
  for (let at = 0; at < content.length; at += chunkBytes) await writer.write([content.subarray(at, at + chunkBytes)])
  await writer.finish()
  const file = writer.isPacked ? packedPath(path) : path
  renameSync(writer.temporaryFile, file)
  return file
}

async function read(...wanted: Parameters<typeof streamContent>): Promise<Buffer> {
  return Buffer.concat(await streamContent(...wanted).toArray())
}

it('any range of a compressed content is exactly its bytes', async () => {
  const path = join(temporaryDirectory(), 'a')
  await write(path, TEXT)
  const place = fc.nat(TEXT.length - 1)
  await fc.assert(
    fc.asyncProperty(place, place, async (one, other) => {
      const [start, end] = [Math.min(one, other), Math.max(one, other)]
      expect((await read(path, { start, end })).equals(TEXT.subarray(start, end + 1))).toBe(true)
    }),
  )
  expect((await read(path)).equals(TEXT)).toBe(true)
})

it('a compressed content that ends near a frame keeps its last bytes', async () => {
  const path = join(temporaryDirectory(), 'a')
  for (const length of [131_071, 131_072, 131_073, 131_080]) {
    await write(path, TEXT.subarray(0, length))
    expect((await read(path)).equals(TEXT.subarray(0, length)), `${length} bytes`).toBe(true)
  }
})

it('a compressed content takes less and any zstd program unpacks it', async () => {
  const path = join(temporaryDirectory(), 'a')
  const file = await write(path, TEXT)
  const packed = readFileSync(file)
  expect(plainPath(path)).toBeUndefined()
  expect(packed.length).toBeLessThan(TEXT.length / 3)
  expect(zstdDecompressSync(packed).equals(TEXT)).toBe(true)
})

it('what is zero takes no room, wherever it is', async () => {
  const path = join(temporaryDirectory(), 'a')
  const part = fc.record({ length: fc.integer({ min: 1, max: 200_000 }), byte: fc.constantFrom(0, 0, 7) })
  await fc.assert(
    fc.asyncProperty(fc.array(part, { maxLength: 5 }), async (parts) => {
      const content = Buffer.concat([Buffer.of(0), ...parts.map(({ length, byte }) => Buffer.alloc(length, byte))])
      await write(path, content)
      expect((await read(path)).equals(content)).toBe(true)
    }),
    { numRuns: 30 },
  )
  const file = await write(path, Buffer.concat([Buffer.alloc(3_000_000), Buffer.of(1), Buffer.alloc(3_000_000)]))
  expect(statSync(file)).toMatchObject({ size: 6_000_001 })
  expect(statSync(file).blocks * 512).toBeLessThan(1_000_000)
})

it('only what begins with a zero byte in its first part stays as it is', async () => {
  const isPacked = async (zeroAt: number, chunkBytes: number) => {
    const content = Buffer.from(TEXT)
    content[zeroAt] = 0
    const path = join(temporaryDirectory(), 'a')
    const file = await write(path, content, chunkBytes)
    expect((await read(path)).equals(content)).toBe(true)
    return file !== path
  }
  for (const chunkBytes of [65_536, 200_000]) {
    expect([await isPacked(65_535, chunkBytes), await isPacked(65_536, chunkBytes)]).toEqual([false, true])
  }
})

it('a compressed content that is cut or altered never passes for another', async () => {
  const path = join(temporaryDirectory(), 'a')
  const file = await write(path, TEXT.subarray(0, 150_000))
  const packed = readFileSync(file)
  for (let length = 0; length < packed.length; length += 97) {
    writeFileSync(file, packed.subarray(0, length))
    await expect(read(path)).rejects.toThrow(DamagedBytesError)
  }
  for (let at = packed.length - 41; at < packed.length; at += 1) {
    writeFileSync(file, Buffer.from(packed).fill((packed[at] ?? 0) ^ 0x40, at, at + 1))
    const content = await read(path).catch((error: unknown) => error)
    if (Buffer.isBuffer(content)) expect(content.equals(TEXT.subarray(0, 150_000)), `byte ${at}`).toBe(true)
    else expect(content).toBeInstanceOf(DamagedBytesError)
  }
})
