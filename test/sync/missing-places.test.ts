/** Libraries and directories that appear at the service, or disappear, while a mirror is synced. */
import { describe, expect, test } from 'vitest'
import type { ServiceClient } from '../../src/remote/service-client.ts'
import { accountOf, mirrorOf, openTestEngine, startEngine } from '../support/engine.ts'
import { createLibrary, type FaultyService, type SeenRequest, startFaultyService } from '../support/faulty-service.ts'
import { temporaryDirectory, writeTree } from '../support/temporary.ts'

const NOT_FOUND = { status: 404, body: { message: 'Not found' } }

function manyIn(directory: string, count: number): Record<string, string> {
  return Object.fromEntries(
    Array.from({ length: count }, (_, index) => [`${directory}/f${index}.md`, `${directory} ${index}`]),
  )
}

/** From the first request for which `isLast` holds, the service no longer knows its library. */
function loseLibraryAt(service: FaultyService, isLast: (request: SeenRequest) => boolean): void {
  let lost: string | undefined
  service.answer = (request) => {
    const library = /\/libraries\/([^/?]+)/.exec(request.path)?.[1]
    if (isLast(request)) lost = library
    return library !== undefined && library === lost ? NOT_FOUND : undefined
  }
}

/** The directory `/sub` disappears at the first upload of f0.md until it is made again. */
function loseDirectoryAt(service: FaultyService, status: number, staysLost = false): { losses: number } {
  const seen = { losses: 0 }
  let isLost = false
  service.answer = ({ route, fileName, body, path }) => {
    if (fileName === 'f0.md' && seen.losses === 0) isLost = true
    const isOfIt = route === 'uploadFile' ? body.includes('/sub\r\n') : path.includes('%2Fsub')
    if (route === 'createDirectory' && String(body).includes('/sub"') && seen.losses > 0 && !staysLost) isLost = false
    if (!isLost || !isOfIt) return undefined
    if (route === 'uploadFile') seen.losses += 1
    return route === 'uploadFile' ? { status, body: { message: 'Directory not found' } } : NOT_FOUND
  }
  return seen
}

describe('a library deleted during a run', () => {
  test('a library deleted during a run costs only the uploads under way [F-SV-22]', async () => {
    const { service, tested, mirror } = await startEngine(manyIn('sub', 60), { mirror: { library: 'Gone' } })
    loseLibraryAt(service, ({ fileName }) => fileName === 'f10.md')
    const other = mirrorOf(writeTree(temporaryDirectory(), { 'a.md': 'a' }), { library: 'Kept' })
    const { failure, summary, outcome } = await tested.sync([mirror, other])
    expect(failure).toMatchObject({ code: 'library-mismatch', message: expect.stringContaining('"Gone"') })
    expect(outcome).not.toBe('done')
    expect(summary.mirrors[1]?.uploads.created).toBe(1)
    const refused = service.requests.filter(({ route, status }) => route === 'uploadFile' && status === undefined)
    expect(refused.length).toBeLessThanOrEqual(4)
    expect(service.count('showLibrary')).toBe(1)
    // The contents that remain are still to send.
    expect(tested.store.contents.countToSend(1).n).toBeGreaterThan(40)
    expect(summary.mirrors[0]?.problems.at(-1)).toMatchObject({ path: '', code: 'library-mismatch' })
  })

  test('a library deleted during a run stops its directories at the first [F-SV-22]', async () => {
    const service = await startFaultyService()
    loseLibraryAt(service, ({ route, body }) => route === 'createDirectory' && String(body).includes('/d20"'))
    const tree = Object.fromEntries(Array.from({ length: 60 }, (_, index) => [`d${index}/a.md`, `${index}`]))
    const mirror = mirrorOf(writeTree(temporaryDirectory(), tree), { library: 'Gone' })
    const { failure } = await openTestEngine(service).sync([mirror])
    expect(failure).toMatchObject({ code: 'library-mismatch' })
    const refused = service.requests.filter(({ route, status }) => route === 'createDirectory' && status === undefined)
    expect(refused.length).toBeLessThanOrEqual(4)
  })

  test('an unclear 404 is a problem of its file', async () => {
    const service = await startFaultyService()
    service.answer = ({ fileName, route }) => {
      if (route === 'showLibrary') return { status: 503, body: {} }
      return fileName === 'bad.md' ? NOT_FOUND : undefined
    }
    const mirror = mirrorOf(writeTree(temporaryDirectory(), { 'bad.md': 'bad', 'good.md': 'good' }))
    const result = await openTestEngine(service).sync([mirror])
    expect(accountOf(result).problems).toMatchObject([{ path: 'bad.md', code: 'not-found' }])
    expect(accountOf(result).uploads.created).toBe(1)
  })

  test('a 404 of an inbox upload is a problem of its file', async () => {
    const service = await startFaultyService()
    service.answer = ({ fileName, route }) => (fileName === 'bad.md' || route === 'description' ? NOT_FOUND : undefined)
    const mirror = mirrorOf(writeTree(temporaryDirectory(), { 'sub/bad.md': 'bad', 'sub/good.md': 'good' }))
    const result = await openTestEngine(service).sync([mirror])
    expect(accountOf(result).problems).toMatchObject([{ path: 'sub/bad.md', code: 'not-found' }])
    expect(accountOf(result).uploads.created).toBe(1)
  })

  test('a 404 of one upload is a problem of its file [F-SV-22]', async () => {
    const service = await startFaultyService()
    service.answer = ({ fileName }) => (fileName === 'bad.md' ? NOT_FOUND : undefined)
    const mirror = mirrorOf(writeTree(temporaryDirectory(), { 'bad.md': 'bad', 'good.md': 'good' }))
    const result = await openTestEngine(service).sync([mirror])
    expect(result.failure).toBeUndefined()
    expect(accountOf(result).problems).toMatchObject([{ path: 'bad.md', code: 'not-found' }])
    expect(accountOf(result).uploads.created).toBe(1)
  })
})

describe('a directory lost at an upload', () => {
  test.each([404, 422])('a directory lost at an upload is made again after a %i [F-SV-23]', async (status) => {
    const service = await startFaultyService()
    const seen = loseDirectoryAt(service, status)
    const root = temporaryDirectory()
    const mirror = mirrorOf(writeTree(root, { ...manyIn('sub', 20), 'other.md': 'x' }))
    const result = await openTestEngine(service).sync([mirror])
    expect(seen.losses).toBeGreaterThan(0)
    expect(seen.losses).toBeLessThanOrEqual(4)
    expect(accountOf(result)).toMatchObject({ uploads: { created: 21, failed: 0 }, problems: [] })
    expect(result.outcome).toBe('done')
  })

  test('a directory lost again is made once more, then a problem [F-SV-23]', async () => {
    const service = await startFaultyService()
    const seen = loseDirectoryAt(service, 404, true)
    const mirror = mirrorOf(writeTree(temporaryDirectory(), { ...manyIn('sub', 3), 'other.md': 'x' }))
    const result = await openTestEngine(service).sync([mirror])
    expect(accountOf(result).uploads).toMatchObject({ created: 1 })
    expect(accountOf(result).problems.length).toBeGreaterThan(0)
    expect(result.outcome).toBe('failures')
    expect(seen.losses).toBeLessThanOrEqual(6)
  })
})

describe('a directory lost unnoticed', () => {
  /** Hides `/sub` from listings until it is made again. */
  async function openBesideLoss() {
    const { service, tested, mirror } = await startEngine({ 'sub/deep/a.md': 'a', 'kept/b.md': 'b' })
    await tested.sync([mirror])
    service.forget()
    service.rewrite = ({ route }, body) => {
      const isMade = service.requests.some(
        ({ route: made, body: sent }) => made === 'createDirectory' && /sub"/.test(`${sent}`),
      )
      if (route !== 'listDirectory' || isMade || !Array.isArray(body.folders)) return body
      return { ...body, folders: body.folders.filter(({ name }) => name !== 'sub') }
    }
    return { service, mirror, tested }
  }

  const madeIn = ({ requests }: FaultyService) =>
    requests.flatMap(({ route, body }) =>
      route === 'createDirectory' ? [/\/(sub.*|kept)"/.exec(String(body))?.[1]] : [],
    )

  test('a directory lost unnoticed is made again by the next scrub, once [F-SV-23]', async () => {
    const { service, mirror, tested } = await openBesideLoss()
    await tested.sync([mirror])
    expect([service.count('listDirectory'), service.count('createDirectory')]).toEqual([0, 0])
    const result = await tested.sync([mirror], { hashEverything: true })
    expect(madeIn(service).filter((path) => path !== undefined)).toEqual(['sub', 'sub/deep'])
    expect([result.outcome, service.count('uploadFile')]).toEqual(['done', 0])
    service.forget()
    await tested.sync([mirror])
    expect(madeIn(service)).toEqual([])
  })

  test.each([
    ['none of which may be listed', 403, 'done'],
    ['for which the credential is refused', 401, 'access'],
  ])('a directory is not made again beside directories %s', async (_, status, outcome) => {
    const { service, mirror, tested } = await openBesideLoss()
    service.answer = ({ route }) => (route === 'listDirectory' ? { status, body: {} } : undefined)
    const result = await tested.sync([mirror], { hashEverything: true })
    expect(result.failure?.kind ?? result.outcome).toBe(outcome)
    expect(madeIn(service)).toEqual([])
  })

  test('a directory is not made again beside an incomplete listing [F-SV-23]', async () => {
    const { service, mirror, tested } = await openBesideLoss()
    service.answer = ({ route, path }) => (route === 'listDirectory' && path.includes('kept') ? NOT_FOUND : undefined)
    expect((await tested.sync([mirror], { hashEverything: true })).outcome).toBe('done')
    expect(madeIn(service)).toEqual([])
  })
})

test('a library that another mirror creates at the same time is used by both', async () => {
  await using service = await startFaultyService()
  const wrapClient = (client: ServiceClient): ServiceClient => ({
    ...client,
    createLibrary: async (...asked) => {
      await createLibrary(service.library, 'Test')
      return await client.createLibrary(...asked)
    },
  })
  await using tested = openTestEngine(service, { wrapClient })
  const mirror = mirrorOf(writeTree(temporaryDirectory(), { 'a.md': 'A' }))
  expect((await tested.sync([mirror])).outcome).toBe('done')
})
