import { readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { expect, test } from 'vitest'
import { checkLibrary } from '../../../src/embedded/storage/check-library.ts'
import { startLibrary, temporaryDirectory } from '../temporary-library.ts'

const NEVER = new AbortController().signal
const check = (dataDir: string) => checkLibrary(dataDir, NEVER)
const databaseOf = (dataDir: string) => join(dataDir, 'library.sqlite')

/** A library with a small and a large content, stopped. */
async function storedLibrary() {
  const { dataDir, client, stop } = await startLibrary()
  const library = await client.createLibrary()
  const words = Array.from({ length: 3_000 }, (_, index) => `w${index}`).join(' ')
  const small = await client.uploaded(library, { name: 'small.txt', content: words })
  const large = await client.uploaded(library, { name: 'large.bin', type: 'image/png', content: 'x'.repeat(100_000) })
  await client.processed(library, large)
  await stop()
  const [name = ''] = readdirSync(join(dataDir, 'files'), { recursive: true, encoding: 'utf8' }).filter((path) =>
    /[0-9a-f]{64}\.zst$/.test(path),
  )
  return { dataDir, small, large, sizeBytes: words.length + 100_000, largeFile: join(dataDir, 'files', name) }
}

test('a check finds no problem in an intact library', async () => {
  const { dataDir, sizeBytes } = await storedLibrary()
  expect(await check(dataDir)).toEqual({ contents: 2, sizeBytes, problems: [] })
})

test('a check reads a library that is being served', async () => {
  const { dataDir, client } = await startLibrary()
  await client.uploaded(await client.createLibrary(), { name: 'a.txt', content: 'served' })
  expect(await check(dataDir)).toEqual({ contents: 1, sizeBytes: 6, problems: [] })
  expect((await client.get('/libraries')).status).toBe(200)
})

test('a check changes nothing, also of a database left open', async () => {
  const { dataDir, largeFile } = await storedLibrary()
  truncateSync(largeFile, 7)
  for (const leftOpen of [false, true]) {
    if (leftOpen) writeFileSync(`${databaseOf(dataDir)}-wal`, '')
    const before = filesOf(dataDir)
    expect((await check(dataDir)).problems).toHaveLength(1)
    expect(filesOf(dataDir)).toEqual(before)
  }
})

test('a check notices any overwritten page', async () => {
  const { dataDir } = await storedLibrary()
  const file = databaseOf(dataDir)
  const whole = readFileSync(file)
  const pageBytes = whole.readUInt16BE(16)
  for (let start = 0; start < whole.length; start += pageBytes) {
    writeFileSync(file, Buffer.from(whole).fill(0x5a, start, start + pageBytes))
    expect((await check(dataDir)).problems, `page at ${start}`).toHaveLength(1)
  }
})

test('a check explains what to do about a damaged database', async () => {
  const { dataDir } = await storedLibrary()
  writeFileSync(databaseOf(dataDir), readFileSync(databaseOf(dataDir)).fill(0x5a, 4_096, 20_000))
  const { problems } = await check(dataDir)
  expect(problems).toEqual([
    { what: expect.stringContaining('library.sqlite" is damaged'), todo: expect.stringContaining('from a backup') },
  ])
})

test('a check notices a stored file that is missing, cut or altered', async () => {
  const { dataDir, large, largeFile } = await storedLibrary()
  const content = readFileSync(largeFile)
  for (const [fault, damage] of [
    ['is missing', () => rmSync(largeFile)],
    ['is not what was uploaded', () => writeFileSync(largeFile, content.subarray(1))],
    ['is not what was uploaded', () => writeFileSync(largeFile, Buffer.from(content).fill('y', 20, 21))],
  ] as const) {
    damage()
    expect((await check(dataDir)).problems).toEqual([
      {
        what: expect.stringMatching(new RegExp(`^The content of "large.bin" \\(${large}, library ".*"\\) ${fault}$`)),
        todo: `restore "${largeFile.replace('.zst', '')}" or "${largeFile}" from a backup; the SHA-256 of the content is its name`,
      },
    ])
    writeFileSync(largeFile, content)
  }
  expect((await check(dataDir)).problems).toEqual([])
})

test('a check notices an altered content in the database', async () => {
  const { dataDir, small } = await storedLibrary()
  const database = new Database(databaseOf(dataDir))
  database.exec("UPDATE small_content SET bytes = CAST('other' AS BLOB)")
  database.close()
  const { problems } = await check(dataDir)
  expect(problems.map(({ what }) => what)).toEqual([expect.stringContaining(small)])
  expect(problems[0]?.what).toMatch(/is not what was uploaded$/)
})

test('a check notices records that refer to nothing', async () => {
  const { dataDir } = await storedLibrary()
  const database = new Database(databaseOf(dataDir))
  database.pragma('foreign_keys = OFF')
  database.exec('DELETE FROM library')
  database.close()
  expect((await check(dataDir)).problems[0]?.what).toContain('refer to others that are missing')
})

test('a check refuses a directory without a library', async () => {
  await expect(check(temporaryDirectory())).rejects.toMatchObject({ code: 'bad-usage' })
})

function filesOf(dataDir: string): unknown[] {
  return readdirSync(dataDir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !['lock', 'library.sqlite-shm'].includes(entry.name))
    .map(({ parentPath, name }) => [name, readFileSync(join(parentPath, name), 'base64')])
    .sort()
}
