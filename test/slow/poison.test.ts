/** The service answers badly for one item, with any answer to any operation: the others finish, and the run names the item. */
import { describe, expect, test } from 'vitest'
import { accountOf, mirrorOf, openTestEngine } from '../support/engine.ts'
import { type ScriptedResponse, type SeenRequest, startFaultyService } from '../support/faulty-service.ts'
import { readLibrary, titlesIn } from '../support/library-contents.ts'
import { temporaryDirectory, writeTree } from '../support/temporary.ts'

const GOOD = { 'a.md': 'A', 'b.md': 'B', 'sub/c.md': 'C', 'sub/d.md': 'D' }

let deep: unknown = 'end'
for (let depth = 0; depth < 20_000; depth += 1) deep = [deep]

/** Answers that refuse, fail or cannot be read. */
const ANSWERS: Readonly<Record<string, ScriptedResponse>> = {
  'a 403': { status: 403, body: { message: 'Forbidden' } },
  'a 409': { status: 409, body: { message: 'Conflict' } },
  'a 500': { status: 500, body: { message: 'Server error' } },
  'a 503': { status: 503, body: {} },
  'a redirect': { status: 302, body: {}, headers: { location: 'https://elsewhere.example/' } },
  'a page of HTML': { status: 200, body: '<html>Sign in</html>', headers: { 'content-type': 'text/html' } },
  'a 202': { status: 202, body: {} },
  'a 204': { status: 204, body: '' },
  null: { status: 200, body: null },
  'null as id': { status: 200, body: { id: null } },
  'a value with a toString of its own': { status: 422, body: { errors: { file: [{ toString: 'x' }] } } },
  'JSON that nests deeply': { status: 200, body: { id: 'x', ingestion_status: deep } },
}

async function openPoisoned() {
  const service = await startFaultyService()
  const root = writeTree(temporaryDirectory(), { ...GOOD, 'bad/bad.md': 'bad' })
  const tested = openTestEngine(service, { pollIntervals: { firstPollMs: 1, maxPollMs: 5 } })
  return { service, tested, mirror: mirrorOf(root) }
}

describe.each(Object.entries(ANSWERS))('answered with %s', (_, answer) => {
  test('a bad answer to one upload leaves the other files alone [F-SV-07, F-SV-14, F-SV-21]', async () => {
    const { service, tested, mirror } = await openPoisoned()
    service.answer = ({ fileName }) => (fileName === 'bad.md' ? answer : undefined)
    const result = await tested.sync([mirror])
    expect(result.failure).toBeUndefined()
    expect(accountOf(result).problems.map(({ path }) => path)).toEqual(['bad/bad.md'])
    expect(accountOf(result).ingestion.searchable).toBe(4)
    expect(titlesIn(service).filter((title) => title !== 'bad.md')).toEqual(['a.md', 'b.md', 'c.md', 'd.md'])
    expect(service.requests.filter(({ fileName }) => fileName === 'bad.md').length).toBeLessThanOrEqual(2)
  })

  test('a bad answer to one poll leaves the other files alone [F-SV-07, F-SV-14, F-SV-21]', async () => {
    const { service, tested, mirror } = await openPoisoned()
    let badId: string | undefined
    service.rewrite = ({ fileName }, body) => {
      if (fileName === 'bad.md') badId = String(body.id)
      return body
    }
    service.answer = ({ route, path }) => (route === 'showResource' && path.endsWith(`/${badId}`) ? answer : undefined)
    const result = await tested.sync([mirror])
    expect(result.failure).toBeUndefined()
    expect(accountOf(result).problems.map(({ path }) => path)).toEqual(['bad/bad.md'])
    expect(accountOf(result).ingestion.searchable).toBe(4)
    expect(service.count('uploadFile')).toBe(5)

    service.answer = () => undefined
    tested.store.write(() =>
      tested.store.quarantine.list().forEach(({ contentId }) => void tested.store.quarantine.makeDue(contentId)),
    )
    const next = await tested.sync([mirror])
    expect(next).toMatchObject({ outcome: 'done' })
    expect(service.count('uploadFile')).toBe(5)
  })

  test('a bad answer to one directory leaves the others alone [F-SV-07, F-SV-21]', async () => {
    const { service, tested, mirror } = await openPoisoned()
    const isBad = (body: Buffer) => body.includes('/bad"')
    service.answer = ({ route, body }) => (route === 'createDirectory' && isBad(body) ? answer : undefined)
    const result = await tested.sync([mirror])
    expect(result.failure).toBeUndefined()
    expect(accountOf(result).problems.map(({ path }) => path)).toEqual(['bad'])
    expect(accountOf(result).directories).toMatchObject({ created: 2, failed: 1 })
    expect(titlesIn(service).filter((title) => title !== 'bad.md')).toEqual(['a.md', 'b.md', 'c.md', 'd.md'])
  })

  test('a candidate that cannot be compared hides no arrived upload [F-SV-21]', async () => {
    const { service, tested, mirror } = await openPoisoned()
    expect((await tested.sync([{ ...mirror, ignore: ['bad.md'] }])).outcome).toBe('done')
    const before = readLibrary(service.dataDir).length
    // Another client's entry has the same name and place and cannot be compared; the upload loses its first answer.
    await using other = openTestEngine(service)
    const theirs = mirrorOf(writeTree(temporaryDirectory(), { 'bad/bad.md': 'of another client' }))
    await other.sync([{ ...theirs, remotePath: mirror.remotePath }], { adopts: true })
    const candidate = readLibrary(service.dataDir)[before]?.id ?? ''
    service.rewrite = ({ route }, body) => {
      if (route !== 'listDirectory' || !Array.isArray(body.files)) return body
      return { ...body, files: body.files.toSorted((a, b) => Number(b.id === candidate) - Number(a.id === candidate)) }
    }
    service.forget()
    service.fault = ({ route }) => (route === 'uploadFile' && service.count(route) === 1 ? 'reset-after' : undefined)
    const isCandidate = ({ route, path }: SeenRequest) => route === 'downloadResource' && path.includes(candidate)
    service.answer = (request) => (isCandidate(request) ? answer : undefined)
    const result = await tested.sync([mirror])
    expect(result.outcome).toBe('done')
    expect(service.requests.some(isCandidate)).toBe(true)
    const titles = ['a.md', 'b.md', 'bad.md', 'bad.md', 'c.md', 'd.md']
    expect(titlesIn(service)).toEqual(titles)
    expect(service.count('uploadFile')).toBe(1)
  })
})

describe('answers about another resource', () => {
  test("an upload answered with another resource's id is no receipt [F-SV-15]", async () => {
    const { service, tested, mirror } = await openPoisoned()
    let goodId: unknown
    service.rewrite = ({ fileName }, body) => {
      if (fileName === 'a.md') goodId = body.id
      return fileName === 'bad.md' ? { ...body, id: goodId } : body
    }
    // The first run leaves the bad file out, so that the good one is stored first.
    await tested.sync([{ ...mirror, ignore: ['bad'] }])
    const result = await tested.sync([mirror])
    expect(accountOf(result).uploads.created).toBe(1)
    const ids = [1, 2, 3, 4, 5].map((id) => tested.store.contents.get(id)?.resourceId)
    expect(new Set(ids).size).toBe(5)
    expect(readLibrary(service.dataDir)).toHaveLength(5)
  })

  test('a poll answered for another resource ends nothing [F-SV-15]', async () => {
    const { service, tested, mirror } = await openPoisoned()
    service.rewrite = ({ route }, body) => (route === 'showResource' ? { ...body, id: 'another' } : body)
    const result = await tested.sync([mirror])
    expect(accountOf(result).ingestion).toMatchObject({ searchable: 0, pending: 5 })
    expect(accountOf(result).problems).toHaveLength(5)
  })
})
