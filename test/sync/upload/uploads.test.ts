import { hash } from 'node:crypto'
import { appendFileSync, readFileSync, renameSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { openStoreReader, type StoreReader } from '../../../src/store/open-store.ts'
import { type SentFile, silentFileLog } from '../../../src/sync/sinks.ts'
import { accountOf, mirrorOf, openTestEngine, startEngine } from '../../support/engine.ts'
import { startFaultyService } from '../../support/faulty-service.ts'
import { readLibrary } from '../../support/library-contents.ts'
import { manyFiles, temporaryDirectory, writeTree } from '../../support/temporary.ts'

const MEGABYTE = 2 ** 20

describe('before the first byte of an upload', () => {
  test('an intent is committed before the first byte of its upload [P2]', async () => {
    const { service, tested, mirror } = await startEngine(
      { 'a.md': 'A', 'sub/b.md': 'B', 'sub/c.txt': 'C' },
      { limits: { transfers: 1 } },
    )
    const seen: unknown[][] = []
    service.onUploadBegun = () => {
      using reader = openStoreReader(tested.stateDir)
      seen.push(listIntents(reader))
    }
    expect((await tested.sync([mirror])).outcome).toBe('done')
    expect(seen).toHaveLength(3)
    expect(seen[0]).toContainEqual({ path: 'a.md', mime: 'text/markdown', size: 1, attempt: 1 })
    for (const intents of seen) expect(intents.length).toBeGreaterThan(0)
  })

  test('every attempt of an upload has an intent of its own [P2]', async () => {
    const { service, tested, mirror } = await startEngine({ 'a.md': 'A' })
    service.fault = ({ route, attempt }) => (route === 'uploadFile' && attempt === 1 ? 'unavailable' : undefined)
    expect((await tested.sync([mirror])).outcome).toBe('done')
    const attempts = tested.store.uploads.listByContent(1)
    expect(attempts.map(({ attempt, outcome }) => [attempt, outcome])).toEqual([
      [1, 'absent'],
      [2, 'created'],
    ])
  })
})

test('the same bytes under two names are one resource if the service says so', async () => {
  const { service, tested, mirror } = await startEngine({ 'a.md': 'same' })
  await tested.sync([mirror])
  const id = tested.store.contents.get(1)?.resourceId
  service.answer = ({ fileName }) => (fileName === 'b.txt' ? { status: 200, body: { id, duplicate: true } } : undefined)
  writeTree(mirror.path, { 'b.txt': 'same' })
  expect((await tested.sync([mirror])).outcome).toBe('done')
  const shown = tested.store.report.listSent(1, 0, 9)
  expect(shown.map(({ path, resourceId }) => [path, resourceId])).toEqual([
    ['a.md', id],
    ['b.txt', id],
  ])
})

test('a receipt is durable while another upload continues [P1]', async () => {
  const { service, tested, mirror } = await startEngine(
    { 'quick.md': 'quick', 'slow.md': 'slow' },
    { limits: { transfers: 2 } },
  )
  const storedMeanwhile = Promise.withResolvers<number>()
  service.onResponse = async ({ fileName }) => {
    if (fileName !== 'slow.md') return
    // The slow upload is answered once a second reader finds the quick one stored.
    using reader = openStoreReader(tested.stateDir)
    const isStored = () => countStored(reader) === 1
    await expect
      .poll(isStored, { timeout: 10_000 })
      .toBe(true)
      .catch(() => {})
    storedMeanwhile.resolve(countStored(reader))
  }
  expect((await tested.sync([mirror])).outcome).toBe('done')
  expect(await storedMeanwhile.promise).toBe(1)
})

test('a file is named as sent when that is committed [P1]', async () => {
  const stateDir = temporaryDirectory()
  const named: boolean[] = []
  const sent = ({ resourceId }: SentFile) => {
    using reader = openStoreReader(stateDir)
    named.push(reader?.contents.findByResource(1, resourceId)?.state === 'stored')
  }
  const { tested, mirror } = await startEngine(manyFiles(12, 12), { stateDir, fileLog: { ...silentFileLog, sent } })
  expect((await tested.sync([mirror])).outcome).toBe('done')
  expect(named).toEqual(Array(12).fill(true))
})

describe('an upload whose answer is lost', () => {
  test('an upload whose answer is lost is found and never sent twice [P4, F-SV-04]', async () => {
    const { service, tested, mirror } = await startEngine(manyFiles(40, 30))
    service.fault = ({ route, attempt }) => (route === 'uploadFile' && attempt === 1 ? 'reset-after' : undefined)
    const result = await tested.sync([mirror])
    expect(result.outcome).toBe('done')
    expect(service.count('uploadFile')).toBe(30)
    expect(accountOf(result).uploads).toMatchObject({ created: 30, duplicates: 0, inDoubt: 0, failed: 0 })
    expect(accountOf(result).ingestion.searchable).toBe(30)
    expect(readLibrary(service.dataDir)).toHaveLength(30)
    const outcomes = tested.store.uploads.listByContent(1).map(({ outcome }) => outcome)
    expect(outcomes).toEqual(['adopted'])
  })

  test('a lost upload is found whatever script its name has', async () => {
    const { service, tested } = await startEngine(
      {},
      { service: { hasNoDuplicateRule: true }, limits: { transfers: 8 } },
    )
    service.fault = ({ route, attempt }) => (route === 'uploadFile' && attempt === 1 ? 'reset-after' : undefined)
    const letters = [...'あいうえおかきくけこさしすせそたちつてと']
    const mirror = mirrorOf(
      writeTree(temporaryDirectory(), Object.fromEntries(letters.map((letter) => [`${letter}.md`, `# ${letter}`]))),
    )
    expect((await tested.sync([mirror])).outcome).toBe('done')
    expect(service.count('uploadFile')).toBe(letters.length)
    expect(readLibrary(service.dataDir)).toHaveLength(letters.length)
  })

  test('a lost upload is found by a later run as well [P4]', async () => {
    const { service, tested, mirror } = await startEngine({ 'first.md': 'first' })
    expect((await tested.sync([mirror])).outcome).toBe('done')
    service.forget()
    writeTree(mirror.path, { 'a.md': 'A', 'b.md': 'B' })
    service.fault = ({ route }) => (route === 'uploadFile' ? 'reset-after' : undefined)
    service.answer = ({ route, path }) =>
      route === 'listDirectory' && path.includes('path=%2F') ? { status: 503, body: {} } : undefined
    const first = await tested.sync([mirror])
    expect(first.outcome).toBe('temporary')
    expect(accountOf(first).uploads).toMatchObject({ created: 0, failed: 2 })
    service.answer = () => undefined
    service.fault = () => undefined
    tested.store.write(() => [2, 3].forEach((contentId) => void tested.store.quarantine.makeDue(contentId)))
    const second = await tested.sync([mirror])
    expect(second.outcome).toBe('done')
    expect(accountOf(second).uploads).toMatchObject({ created: 2, duplicates: 0, inDoubt: 0 })
    expect(service.count('uploadFile')).toBe(2)
  })

  test('a lost upload is found by another mirror of the library [P4]', async () => {
    const { service, tested } = await startEngine()
    const root = temporaryDirectory()
    const one = mirrorOf(writeTree(join(root, 'one'), { 'a.md': 'A' }))
    const two = mirrorOf(writeTree(join(root, 'two'), { 'b.md': 'A' }))
    await tested.sync([two], { isDryRun: true })
    service.fault = ({ route }) => (route === 'uploadFile' ? 'reset-after' : undefined)
    service.answer = ({ route }) => (route === 'listDirectory' ? { status: 503, body: {} } : undefined)
    expect((await tested.sync([one])).failure?.kind).toBe('temporary')
    service.answer = () => undefined
    service.fault = () => undefined
    const result = await tested.sync([two])
    expect(result.outcome).toBe('done')
    expect(accountOf(result).uploads).toMatchObject({ duplicates: 0, inDoubt: 0 })
    expect(service.count('uploadFile')).toBe(1)
    expect(readLibrary(service.dataDir)).toHaveLength(1)
  })

  test('a lost upload that no search finds is closed by its duplicate [P4]', async () => {
    const { service, tested, mirror } = await startEngine({ 'a.md': 'A' })
    service.fault = ({ route, attempt }) => (route === 'uploadFile' && attempt === 1 ? 'reset-after' : undefined)
    service.rewrite = ({ route }, body) => (route === 'listDirectory' ? { ...body, files: [] } : body)
    const result = await tested.sync([mirror])
    expect(result.outcome).toBe('done')
    expect(accountOf(result).uploads).toMatchObject({ created: 0, duplicates: 1, inDoubt: 0 })
    expect(service.count('uploadFile')).toBe(2)
    expect(readLibrary(service.dataDir)).toHaveLength(1)
    service.rewrite = (_, body) => body
    const { rows } = await tested.report([mirror])
    expect(rows.map(({ entry }) => [entry.class, entry.reason])).toEqual([['in-sync', 'a second location may exist']])
  })

  test('a lost upload is not mistaken for a file with other bytes [P4]', async () => {
    await using service = await startFaultyService()
    const root = writeTree(temporaryDirectory(), { 'a.md': 'mine' })
    await using other = openTestEngine(service)
    const mirror = mirrorOf(root)
    await other.sync([mirror])
    writeFileSync(join(root, 'a.md'), 'other bytes')
    service.fault = ({ route, attempt }) => (route === 'uploadFile' && attempt === 2 ? 'reset-before' : undefined)
    await using fresh = openTestEngine(service)
    const result = await fresh.sync([mirror], { adopts: true })
    expect(result.outcome).toBe('done')
    const titles = readLibrary(service.dataDir).map(({ sha256 }) => sha256)
    expect(new Set(titles).size).toBe(2)
  })
})

test.each([
  ['without an id', { duplicate: false }],
  ['with an empty id', { id: '' }],
  ['with a number as id', { id: 7 }],
  ['that is a list', []],
  ['that is null', null],
])('an answer to an upload (%s) is doubt, not done [P4, F-SV-14]', async (_, body) => {
  const { service, tested, mirror } = await startEngine({ 'a.md': 'A' })
  service.rewrite = ({ route, attempt }, real) => (route === 'uploadFile' && attempt === 1 ? body : real)
  const result = await tested.sync([mirror])
  expect(result.outcome).toBe('done')
  expect(service.count('uploadFile')).toBe(1)
  expect(tested.store.uploads.listByContent(1).map(({ outcome }) => outcome)).toEqual(['adopted'])
})

test.each([
  ['grows', (path: string) => appendFileSync(path, 'more')],
  ['shrinks', (path: string) => truncateSync(path, MEGABYTE)],
  ['is rewritten', (path: string) => writeFileSync(path, Buffer.alloc(12 * MEGABYTE, 1))],
  ['is replaced', (path: string) => replace(path)],
])('a file that changes while it is sent (%s) stores nothing [P10, F-FS-01]', async (_, change) => {
  const { service, tested, mirror } = await startEngine({ 'big.bin': Buffer.alloc(12 * MEGABYTE) })
  service.onUploadBegun = () => change(join(mirror.path, 'big.bin'))
  const first = await tested.sync([mirror])
  const stored = () => readLibrary(service.dataDir).map(({ sha256 }) => sha256)
  const hashed = [1, 2, 3].map((id) => tested.store.contents.get(id)?.sha256.toString('hex'))
  expect(stored().filter((sha256) => !hashed.includes(sha256))).toEqual([])
  // A replaced file is read to its end through its open descriptor, so the sent bytes may be the hashed ones.
  if (first.outcome !== 'done') {
    expect(accountOf(first).problems).toMatchObject([{ path: 'big.bin', code: 'busy' }])
    expect(stored()).toEqual([])
  }

  service.onUploadBegun = () => {}
  const second = await tested.sync([mirror])
  expect(second.outcome).toBe('done')
  expect(accountOf(second).problems).toEqual([])
  expect(stored()).toContain(hash('sha256', readFileSync(join(mirror.path, 'big.bin')), 'hex'))
})

describe('a refused content', () => {
  test('a refused content is reported, quarantined and not sent again [F-SV-10]', async () => {
    const { service, tested, mirror } = await startEngine({ 'bad.md': 'bad', 'good.md': 'good' })
    const refusal = { status: 422, body: { message: 'Unprocessable', errors: { file: ['no such kind'] } } }
    service.answer = ({ route, fileName }) => (route === 'uploadFile' && fileName === 'bad.md' ? refusal : undefined)
    const first = await tested.sync([mirror])
    expect(first.outcome).toBe('failures')
    expect(accountOf(first).uploads).toMatchObject({ created: 1, failed: 1 })
    const [problem] = accountOf(first).problems
    expect(problem).toMatchObject({ path: 'bad.md', code: 'invalid', retryAt: expect.any(String) })
    expect(problem?.message).toContain('no such kind')
    const second = await tested.sync([mirror])
    expect(second.outcome).toBe('failures')
    expect(accountOf(second).uploads).toMatchObject({ created: 0, failed: 1 })
    expect(service.requests.filter(({ fileName }) => fileName === 'bad.md')).toHaveLength(1)
  })

  test('a refused credential stops all uploads [F-SV-06]', async () => {
    const { service, tested, mirror } = await startEngine(manyFiles(60, 60))
    service.answer = ({ route, fileName }) =>
      route === 'uploadFile' && fileName === 'file-9.md' ? { status: 401, body: {} } : undefined
    const result = await tested.sync([mirror])
    expect(result.failure).toMatchObject({ kind: 'access', code: 'credential-refused' })
    expect(accountOf(result).uploads.inDoubt).toBe(0)
    const sent = service.count('uploadFile')
    service.answer = () => undefined
    expect((await tested.sync([mirror])).outcome).toBe('done')
    expect(service.count('uploadFile')).toBe(61)
    expect(sent).toBeLessThan(61)
  })
})

function countStored(reader: StoreReader | undefined): number {
  return [1, 2].filter((id) => reader?.contents.get(id)?.state === 'stored').length
}

/** Intents that are committed without an outcome, as another process reads them. */
function listIntents(reader: StoreReader | undefined): unknown[] {
  const [mirror] = reader?.mirrors.list() ?? []
  if (!reader || !mirror) return []
  return reader.contents.listDoubtful(mirror).flatMap(({ id, path, mime, size }) => {
    const last = reader.uploads.listByContent(id).at(-1)
    return last?.outcome === null ? [{ path, mime, size, attempt: last.attempt }] : []
  })
}

function replace(path: string): void {
  writeFileSync(`${path}.new`, 'replaced')
  renameSync(`${path}.new`, path)
}
