import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openPictureCache } from '../../../src/embedded/storage/picture-cache.ts'
import { temporaryDirectory } from '../temporary-library.ts'

const ONE = createHash('sha256').update('one').digest()
const OTHER = createHash('sha256').update('other').digest()

function openCache(directory = temporaryDirectory()) {
  const paths = { directory: join(directory, 'pictures'), temporaryDir: join(directory, 'tmp') }
  mkdirSync(paths.temporaryDir, { recursive: true })
  const cache = openPictureCache({ ...paths, maxBytes: 30 })
  const made: string[] = []
  const take = (sha256: Buffer, name: string) =>
    cache.getOrMake(sha256, name, async () => {
      made.push(name)
      return Buffer.from(name.padEnd(10))
    })
  const files = () => {
    const all = readdirSync(directory, { recursive: true, withFileTypes: true })
    return all.flatMap((entry) => (entry.isFile() ? entry.name : [])).sort()
  }
  return { directory, cache, take, made, files }
}

test('the cache keeps what was used last, within its bound', async () => {
  const { take, made, files } = openCache()
  for (const name of ['a', 'b', 'c', 'a', 'd']) await take(ONE, name)
  expect(made).toEqual(['a', 'b', 'c', 'd'])
  expect(files()).toEqual(['a', 'c', 'd'])
})

test('the cache knows after a restart what it has', async () => {
  const first = openCache()
  for (const name of ['a', 'b', 'c']) await first.take(ONE, name)
  const second = openCache(first.directory)
  expect(String(await second.take(OTHER, 'd'))).toBe('d         ')
  expect(second.files()).toHaveLength(3)
  for (const name of second.files()) if (name !== 'd') await second.take(ONE, name)
  expect(second.made).toEqual(['d'])
})

test('calls at the same time share one file', async () => {
  const { take, made } = openCache()
  await Promise.all([take(ONE, 'a'), take(ONE, 'a'), take(OTHER, 'a')])
  expect(made).toEqual(['a', 'a'])
})

test('a file that cannot be made is tried again', async () => {
  const { cache, take } = openCache()
  await expect(cache.getOrMake(ONE, 'a', () => Promise.reject(new Error('not now')))).rejects.toThrow('not now')
  expect(String(await take(ONE, 'a'))).toBe('a         ')
})

test('the files of a removed content go, also those being made', async () => {
  const { cache, take, files } = openCache()
  const { promise, resolve } = Promise.withResolvers<Buffer>()
  await take(ONE, 'a')
  await take(OTHER, 'b')
  const making = cache.getOrMake(ONE, 'c', () => promise)
  const removing = cache.remove(ONE)
  resolve(Buffer.from('c'))
  await Promise.all([making, removing])
  expect(files()).toEqual(['b'])
})

test('a file that someone removed is made again', async () => {
  const { directory, take, made } = openCache()
  await take(ONE, 'a')
  rmSync(join(directory, 'pictures'), { recursive: true })
  await take(ONE, 'a')
  expect(made).toEqual(['a', 'a'])
})
