import { createHash } from 'node:crypto'
import { appendFileSync, readdirSync, renameSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { nodeFileSystem } from '../../../src/local/read/file-system.ts'
import { openGuarded } from '../../../src/local/read/open-guarded.ts'

import { hashGuarded, readVerified } from '../../../src/local/read/read-verified.ts'
import { temporaryDirectory, writeTree } from '../../support/temporary.ts'
import { memoryFileSystem, rootAt, systemError, thrownBy } from '../trees.ts'

const LIMITS = { wholeBytes: 16, chunkBytes: 10 }
const expected = (bytes: Uint8Array | string) => ({
  sha256: createHash('sha256').update(bytes).digest(),
  sizeBytes: Buffer.byteLength(bytes),
})

/** The bytes that a reader received, and the error that ended it. */
async function drain(source: Uint8Array | AsyncIterable<Uint8Array>, afterChunk = (_: number) => {}) {
  const chunks: Uint8Array[] = []
  try {
    for await (const chunk of source instanceof Uint8Array ? [source] : source) afterChunk(chunks.push(chunk))
  } catch (error) {
    return { bytes: Buffer.concat(chunks), error }
  }
  return { bytes: Buffer.concat(chunks), error: undefined }
}

test('a verified file of any size arrives whole and unchanged', async () => {
  const directory = temporaryDirectory()
  const property = fc.asyncProperty(fc.uint8Array({ maxLength: 60 }), async (bytes) => {
    writeTree(directory, { f: bytes })
    const source = readVerified(nodeFileSystem, rootAt(directory), 'f', expected(bytes), LIMITS)
    expect(source instanceof Uint8Array).toBe(bytes.length <= LIMITS.wholeBytes)
    expect(await drain(source)).toEqual({ bytes: Buffer.from(bytes), error: undefined })
  })
  await fc.assert(property, { numRuns: 100 })
})

test('a large file arrives with the usual limits [F-FS-16]', async () => {
  const directory = temporaryDirectory()
  const bytes = Buffer.alloc(3_000_001, 'shelf')
  writeTree(directory, { f: bytes })
  const { sha256, sizeBytes } = expected(bytes)
  const source = readVerified(nodeFileSystem, rootAt(directory), 'f', { sha256: sha256.toString('hex'), sizeBytes })
  expect((await drain(source)).bytes.equals(bytes)).toBe(true)
})

test('a sparse file of 100 MiB leaves in small pieces [F-FS-16]', async () => {
  const directory = temporaryDirectory()
  const sizeBytes = 100 * 2 ** 20
  writeTree(directory, { f: '' })
  truncateSync(join(directory, 'f'), sizeBytes)
  using file = openGuarded(nodeFileSystem, rootAt(directory), 'f')
  const { sha256 } = hashGuarded(nodeFileSystem, file, { scratch: new Uint8Array(2 ** 20) })
  const source = readVerified(nodeFileSystem, rootAt(directory), 'f', { sha256, sizeBytes })
  if (source instanceof Uint8Array) throw new Error('It was read whole')
  let received = 0
  let longest = 0
  for await (const chunk of source) {
    received += chunk.length
    longest = Math.max(longest, chunk.length)
  }
  expect({ received, longest }).toEqual({ received: sizeBytes, longest: 262_144 })
})

test('a small file with other content is busy [P10]', () => {
  const directory = temporaryDirectory({ f: 'abc' })
  for (const other of ['abd', 'abcd', '']) {
    const read = () => readVerified(nodeFileSystem, rootAt(directory), 'f', expected(other), LIMITS)
    expect(thrownBy(read)).toMatchObject({ code: 'busy' })
  }
})

describe('reading a larger file', () => {
  const content = '0123456789'.repeat(5)

  test.each<[string, (path: string) => void]>([
    ['appends', (path) => appendFileSync(path, 'more')],
    ['truncates', (path) => truncateSync(path, 25)],
    ['rewrites the same size', (path) => writeFileSync(path, 'x'.repeat(50))],
    ['rewrites the same bytes', (path) => writeFileSync(path, content)],
    ['renames over it', (path) => renameSync(`${path}.new`, path)],
  ])('a read ends incomplete when a writer %s [P10, F-FS-01]', async (_, write) => {
    const directory = temporaryDirectory({ f: content, 'f.new': 'y'.repeat(50) })
    const source = readVerified(nodeFileSystem, rootAt(directory), 'f', expected(content), LIMITS)
    const { bytes, error } = await drain(source, (count) => count === 2 && write(join(directory, 'f')))
    expect(error).toMatchObject({ code: 'busy' })
    expect(bytes.length).toBeLessThan(content.length)
  })

  test('a file with other content never gets its last chunk [P10]', async () => {
    const directory = temporaryDirectory({ f: `${content.slice(0, -1)}X` })
    const source = readVerified(nodeFileSystem, rootAt(directory), 'f', expected(content), LIMITS)
    const { bytes, error } = await drain(source)
    expect(error).toMatchObject({ code: 'busy' })
    expect(bytes.length).toBe(40)
  })

  test('no descriptor outlives a complete or stopped read [P21]', async () => {
    const directory = temporaryDirectory({ f: content })
    const read = (like: string) => readVerified(nodeFileSystem, rootAt(directory), 'f', expected(like), LIMITS)
    const before = readdirSync('/proc/self/fd').length
    await drain(read(content))
    await drain(read('z'.repeat(50)))
    await drain(read('z'.repeat(51)))
    await drain(read(content), () => {
      throw new Error('the receiver gave up')
    })
    read(content)
    expect(readdirSync('/proc/self/fd').length).toBe(before)
  })

  test('a failing disk ends a read with an error [F-FS-05]', async () => {
    const directory = temporaryDirectory({ f: content })
    const fs = {
      ...nodeFileSystem,
      read: (...call: Parameters<typeof nodeFileSystem.read>) => call[5](systemError('EIO'), 0),
    }
    const { error } = await drain(readVerified(fs, rootAt(directory), 'f', expected(content), LIMITS))
    expect(error).toMatchObject({ code: 'io-error' })
  })

  test('a vanished file ends a read before any byte [F-FS-02]', async () => {
    const directory = temporaryDirectory()
    const source = readVerified(nodeFileSystem, rootAt(directory), 'f', expected(content), LIMITS)
    expect(await drain(source)).toMatchObject({ bytes: Buffer.alloc(0), error: { code: 'vanished' } })
  })

  test('a file of an in-memory file system is read as well', async () => {
    const fs = memoryFileSystem({ '/m/f': content })
    expect((await drain(readVerified(fs, rootAt('/m', fs), 'f', expected(content), LIMITS))).bytes.toString()).toBe(
      content,
    )
  })
})
