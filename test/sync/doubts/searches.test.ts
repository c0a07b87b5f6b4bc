/** Looks for the resource of an upload in doubt, also when the service answers oddly. */

import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { DirectoryPage, FileEntry } from '../../../src/contract/records.ts'
import { type Clock, systemClock } from '../../../src/foundation/clock.ts'
import type { ServiceClient } from '../../../src/remote/service-client.ts'
import { accountOf, mirrorOf, openTestEngine } from '../../support/engine.ts'
import { type FaultyService, type SeenRequest, startFaultyService } from '../../support/faulty-service.ts'
import { readLibrary } from '../../support/library-contents.ts'
import { temporaryDirectory, writeTree } from '../../support/temporary.ts'

/** Delays take a hundredth of their time. */
const QUICK: Clock = { ...systemClock, sleep: (ms, signal) => systemClock.sleep(ms / 100, signal) }

const isFirstUpload = ({ route, attempt }: SeenRequest) => route === 'uploadFile' && attempt === 1

type Tree = Record<string, string>

/** A mirror beside an entry of the same name and size that another mirror sent. */
async function openBesideCandidate(tree: Tree = { 'a.md': 'mine' }, theirs: Tree = { 'a.md': 'them' }) {
  const service = await startFaultyService({ library: 'Test', hasNoDuplicateRule: true })
  const tested = openTestEngine(service)
  const mirror = mirrorOf(writeTree(temporaryDirectory(), tree))
  await openTestEngine(service).sync([
    { ...mirrorOf(writeTree(temporaryDirectory(), theirs)), remotePath: mirror.remotePath },
  ])
  service.forget()
  const [candidate] = readLibrary(service.dataDir)
  const isTheirs = ({ route, path }: SeenRequest) =>
    route === 'downloadResource' && path.includes(candidate?.id ?? 'no-candidate')
  return { service, tested, mirror, isTheirs }
}

/** The first upload of each file is stored, and its answer is lost. */
function loseResponse(service: FaultyService): void {
  const lost = new Set<string>()
  service.fault = ({ fileName }) => {
    if (fileName === undefined || lost.has(fileName)) return undefined
    lost.add(fileName)
    return 'reset-after'
  }
}

const UNCOMPARED = [
  ['is gone', { status: 404, body: {} }],
  ['is refused', { status: 403, body: {} }],
  ['is a conflict', { status: 409, body: {} }],
] as const

/** Puts these entries before all others of their directory. */
function listFirst(service: FaultyService, ids: ReadonlySet<string>): void {
  service.rewrite = ({ route }, body) => {
    if (route !== 'listDirectory' || !Array.isArray(body.files)) return body
    return { ...body, files: body.files.toSorted((a, b) => Number(ids.has(b.id)) - Number(ids.has(a.id))) }
  }
}

describe('a search for an upload in doubt', () => {
  test('a search compares all entries of the name before it sends again [P4]', async () => {
    const service = await startFaultyService({ library: 'Test', hasNoDuplicateRule: true })
    // Without a description, all uploads land in the inbox.
    service.answer = ({ route }) => (route === 'description' ? { status: 404, body: {} } : undefined)
    const others = Object.fromEntries(Array.from({ length: 20 }, (_, n) => [`d${n}/a.md`, `them ${n}`]))
    await openTestEngine(service).sync([mirrorOf(writeTree(temporaryDirectory(), others))])
    const theirs = new Set(readLibrary(service.dataDir).map(({ id }) => id))
    listFirst(service, theirs)
    service.forget()
    service.fault = ({ route }) =>
      route === 'uploadFile' && service.count('uploadFile') <= 2 ? 'reset-after' : undefined
    const mirror = mirrorOf(writeTree(temporaryDirectory(), { 'a.md': 'mine 1', 'x/a.md': 'mine 2' }))
    expect((await openTestEngine(service).sync([mirror])).outcome).toBe('done')
    expect(service.count('uploadFile')).toBe(2)
    expect(readLibrary(service.dataDir)).toHaveLength(22)
    expect(service.count('downloadResource')).toBeLessThanOrEqual(22 + 2)
  })

  test.each(UNCOMPARED)('an adopting search passes over a candidate that %s', async (_, answer) => {
    const { service, tested, mirror, isTheirs } = await openBesideCandidate()
    loseResponse(service)
    service.answer = (request) => (isTheirs(request) ? answer : undefined)
    const result = await tested.sync([mirror], { adopts: true })
    expect(result.outcome).toBe('done')
    expect(service.count('uploadFile')).toBe(1)
    expect(readLibrary(service.dataDir)).toHaveLength(2)
  })

  test.each(UNCOMPARED)('a search after a lost answer passes over a candidate that %s', async (_, answer) => {
    const { service, tested, mirror, isTheirs } = await openBesideCandidate({ 'first.md': 'first' })
    expect((await tested.sync([mirror], { adopts: true })).outcome).toBe('done')
    listFirst(service, new Set(readLibrary(service.dataDir).map(({ id }) => id)))
    service.forget()
    writeTree(mirror.path, { 'a.md': 'mine' })
    loseResponse(service)
    service.answer = (request) => (isTheirs(request) ? answer : undefined)
    expect((await tested.sync([mirror])).outcome).toBe('done')
    expect(service.requests.filter(isTheirs), 'once before it was sent').toHaveLength(2)
    expect(service.count('uploadFile')).toBe(1)
    expect(readLibrary(service.dataDir)).toHaveLength(3)
  })

  test('a search compares pages of HTML that are files', async () => {
    const service = await startFaultyService({ hasNoDuplicateRule: true })
    loseResponse(service)
    const mirror = mirrorOf(writeTree(temporaryDirectory(), { 'page.html': '<html>mine</html>' }))
    expect((await openTestEngine(service).sync([mirror])).outcome).toBe('done')
    expect(service.count('uploadFile')).toBe(1)
  })

  test.each([
    ['breaks off once', 1, 'done', 1],
    ['always breaks off', 99, 'temporary', 1],
  ])('a search repeats a download that %s', async (_, breaks, outcome, uploads) => {
    const service = await startFaultyService({ hasNoDuplicateRule: true })
    const mirror = mirrorOf(writeTree(temporaryDirectory(), { 'a.md': 'mine' }))
    service.fault = ({ route, attempt }) => {
      if (route === 'uploadFile' && attempt === 1) return 'reset-after'
      return route === 'downloadResource' && attempt <= breaks ? 'cut-answer' : undefined
    }
    const tested = openTestEngine(service, { clock: QUICK })
    expect((await tested.sync([mirror])).outcome).toBe(outcome)
    expect(service.count('uploadFile')).toBe(uploads)
    service.fault = () => undefined
    tested.store.write(() => tested.store.quarantine.makeDue(1))
    expect((await tested.sync([mirror])).outcome).toBe('done')
    expect(service.count('uploadFile')).toBe(1)
  })

  test('a search ends after eight candidates that cannot be compared', async () => {
    const service = await startFaultyService({ library: 'Test', hasNoDuplicateRule: true })
    service.answer = ({ route }) => (route === 'description' ? { status: 404, body: {} } : undefined)
    const others = Object.fromEntries(Array.from({ length: 10 }, (_, n) => [`d${n}/a.md`, `them ${n}`]))
    await openTestEngine(service).sync([mirrorOf(writeTree(temporaryDirectory(), others))])
    listFirst(service, new Set(readLibrary(service.dataDir).map(({ id }) => id)))
    service.forget()
    service.fault = ({ route }) => (route === 'uploadFile' ? 'reset-after' : undefined)
    service.answer = ({ route }) => {
      if (route === 'description') return { status: 404, body: {} }
      return route === 'downloadResource' ? { status: 500, body: {} } : undefined
    }
    const tested = openTestEngine(service)
    const account = accountOf(await tested.sync([mirrorOf(writeTree(temporaryDirectory(), { 'a.md': 'mine' }))]))
    expect(account.problems).toMatchObject([{ path: 'a.md', code: 'service-error' }])
    const asked = service.requests.flatMap(({ route, path }) => (route === 'downloadResource' ? [path] : []))
    expect(new Set(asked).size).toBe(8)
    expect(service.count('uploadFile')).toBe(1)
  })

  test('a search ends the run when the credential is refused', async () => {
    const { service, tested, mirror } = await openBesideCandidate()
    service.answer = ({ route }) => (route === 'downloadResource' ? { status: 401, body: {} } : undefined)
    const { failure } = await tested.sync([mirror], { adopts: true })
    expect(failure).toMatchObject({ kind: 'access', code: 'credential-refused' })
    expect(service.count('uploadFile')).toBe(0)
  })

  test('a search keeps no connection open for pages of HTML [F-SV-14]', async () => {
    const { service, tested, mirror } = await openBesideCandidate(
      { 'a.md': '1', 'b.md': '2' },
      { 'a.md': '3', 'b.md': '4' },
    )
    const page = { status: 200, body: `<html>${'x'.repeat(2 ** 20)}`, headers: { 'content-type': 'text/html' } }
    service.answer = ({ route }) => (route === 'downloadResource' ? page : undefined)
    expect((await tested.sync([mirror], { adopts: true })).outcome).toBe('failures')
    expect(service.count('uploadFile')).toBe(0)
    service.answer = () => undefined
    tested.store.write(() => [1, 2].forEach((contentId) => void tested.store.quarantine.makeDue(contentId)))
    expect((await tested.sync([mirror])).outcome).toBe('done')
    expect(service.count('uploadFile')).toBe(2)
  })

  test('a candidate refused after two doubts names the file and sends nothing [P4]', async () => {
    const { service, tested, mirror, isTheirs } = await openBesideCandidate({ 'first.md': 'first' })
    expect((await tested.sync([mirror], { adopts: true })).outcome).toBe('done')
    writeTree(mirror.path, { 'a.md': 'mine' })
    const sends = () => service.requests.filter(({ fileName }) => fileName === 'a.md').length
    service.fault = ({ route }) => (route === 'uploadFile' ? 'html-error' : undefined)
    expect((await tested.sync([mirror])).outcome).toBe('failures')
    expect(sends()).toBe(2)
    service.fault = () => undefined
    service.answer = (request) => (isTheirs(request) ? { status: 409, body: {} } : undefined)
    for (const _ of [1, 2, 3]) {
      tested.store.write(() => tested.store.quarantine.makeDue(2))
      expect(accountOf(await tested.sync([mirror])).problems).toMatchObject([{ path: 'a.md', code: 'conflict' }])
    }
    expect(sends()).toBe(2)
    service.answer = () => undefined
    tested.store.write(() => tested.store.quarantine.makeDue(2))
    expect((await tested.sync([mirror])).outcome).toBe('done')
    expect(sends()).toBe(3)
    expect(readLibrary(service.dataDir)).toHaveLength(3)
  })

  test('a search searches each name and place that the content was sent to', async () => {
    const service = await startFaultyService({ library: 'Test', hasNoDuplicateRule: true })
    service.rewrite = ({ route }, body) => (route === 'listDirectory' ? { ...body, files: [] } : body)
    service.fault = ({ route, fileName }) => {
      if (route !== 'uploadFile') return undefined
      return fileName === 'plan.md' ? 'reset-after' : 'html-error'
    }
    const mirror = mirrorOf(writeTree(temporaryDirectory(), { 'a/plan.md': 'same' }))
    const tested = openTestEngine(service)
    expect((await tested.sync([mirror], { adopts: true })).outcome).toBe('temporary')
    rmSync(join(mirror.path, 'a'), { recursive: true })
    writeTree(mirror.path, { 'b/note.md': 'same' })
    const makeDue = () => tested.store.write(() => tested.store.quarantine.makeDue(1))
    makeDue()
    await tested.sync([mirror])
    const names = () => service.requests.flatMap(({ fileName }) => fileName ?? [])
    expect(names()).toEqual(['plan.md', 'plan.md', 'note.md'])
    service.rewrite = (_, body) => body
    makeDue()
    expect((await tested.sync([mirror])).outcome).toBe('done')
    expect(names(), 'the first one is found').toEqual(['plan.md', 'plan.md', 'note.md'])
  })

  test('a search finds nothing in a directory that does not exist', async () => {
    const service = await startFaultyService({ hasNoDuplicateRule: true })
    service.fault = (request) => (isFirstUpload(request) ? 'reset-before' : undefined)
    service.answer = ({ route }) => (route === 'listDirectory' ? { status: 404, body: {} } : undefined)
    const mirror = mirrorOf(writeTree(temporaryDirectory(), { 'a.md': 'a' }))
    expect((await openTestEngine(service).sync([mirror], { adopts: true })).outcome).toBe('done')
    expect(service.count('uploadFile')).toBe(2)
  })
})

/** An entry that a listing would show for an upload of `a.md`. */
function entryLike(id: string): FileEntry {
  return { id, title: 'a.md', slug: 'a', filename: 'a.md', mime_type: 'text/markdown', organization_locked: false }
}

/** A mirror that was synced once, and whose next upload loses its answer; `pages` is what its directory lists from then on. */
async function openWithListing(pages: () => Iterable<Partial<DirectoryPage>>) {
  const service = await startFaultyService({ hasNoDuplicateRule: true })
  let isListed = true
  const wrapClient = (client: ServiceClient): ServiceClient => ({
    ...client,
    listDirectory: async function* (...asked) {
      if (isListed) yield* client.listDirectory(...asked)
      else
        for (const page of pages())
          yield { folders: [], files: [], limit: 500, next_cursor: 'more', truncated: true, ...page }
    },
  })
  const tested = openTestEngine(service, { wrapClient })
  const mirror = mirrorOf(writeTree(temporaryDirectory(), { 'first.md': 'first' }))
  expect((await tested.sync([mirror])).outcome).toBe('done')
  writeTree(mirror.path, { 'a.md': 'a' })
  service.forget()
  loseResponse(service)
  isListed = false
  const listAgain = () => {
    isListed = true
    tested.store.write(() => tested.store.quarantine.makeDue(2))
  }
  return { service, tested, mirror, listAgain }
}

describe('a listing that never ends', () => {
  function* endless(files: (page: number) => FileEntry[]) {
    for (let page = 0; ; page += 1) yield { files: files(page) }
  }

  test.each([
    ['of others', () => endless(() => [])],
    [
      'of entries that might be it',
      () => endless((page) => Array.from({ length: 500 }, (_, n) => entryLike(`${page}-${n}`))),
    ],
  ])('a listing %s without end sends nothing again and names the file [P4]', async (_, pages) => {
    const { service, tested, mirror, listAgain } = await openWithListing(pages)
    const account = accountOf(await tested.sync([mirror]))
    expect(account.problems).toMatchObject([{ path: 'a.md', code: 'answer-malformed', retryAt: expect.any(String) }])
    expect(service.count('uploadFile')).toBe(1)
    listAgain()
    expect((await tested.sync([mirror])).outcome).toBe('done')
    expect(service.count('uploadFile')).toBe(1)
    expect(readLibrary(service.dataDir)).toHaveLength(2)
  })
})
