/** Looks for what an upload may have left behind, and what they do when the service answers oddly. */

import { join } from 'node:path'
import Database from 'better-sqlite3'
import { describe, expect, test } from 'vitest'
import { mirrorOf, openTestEngine } from '../../support/engine.ts'
import { type FaultyService, type SeenRequest, startFaultyService } from '../../support/faulty-service.ts'
import { readLibrary } from '../../support/library-contents.ts'
import { temporaryDirectory, writeTree } from '../../support/temporary.ts'

const isFirstUpload = ({ route, attempt }: SeenRequest) => route === 'uploadFile' && attempt === 1

/** A mirror whose only upload loses its answer, beside an entry of the same name and size that somebody else sent. */
async function openBesideCandidate(tree = { 'a.md': 'mine' }, theirs = 'them') {
  const service = await startFaultyService({ library: 'Test', hasNoDuplicateRule: true })
  const tested = openTestEngine(service)
  const mirror = mirrorOf(writeTree(temporaryDirectory(), tree))
  await openTestEngine(service).sync([
    { ...mirrorOf(writeTree(temporaryDirectory(), { 'a.md': theirs })), remotePath: mirror.remotePath },
  ])
  service.forget()
  const [candidate] = readLibrary(service.dataDir)
  const isTheirs = ({ route, path }: SeenRequest) =>
    route === 'downloadResource' && path.includes(candidate?.id ?? 'nobody')
  return { service, tested, mirror, isTheirs }
}

/** The first upload is stored, its answer lost. */
function loseAnswer(service: FaultyService): void {
  const lost = new Set<string>()
  service.fault = ({ fileName }) => {
    if (fileName === undefined || lost.has(fileName)) return undefined
    lost.add(fileName)
    return 'reset-after'
  }
}

describe('a look', () => {
  test.each([
    ['is gone', { status: 404, body: {} }],
    ['is refused', { status: 403, body: {} }],
    ['is a conflict', { status: 409, body: {} }],
  ])('passes over a candidate that %s', async (_, answer) => {
    const { service, tested, mirror, isTheirs } = await openBesideCandidate()
    loseAnswer(service)
    service.answer = (request) => (isTheirs(request) ? answer : undefined)
    const result = await tested.sync([mirror], { adopts: true })
    expect(result.outcome).toBe('done')
    expect(service.count('uploadFile')).toBe(1)
    expect(readLibrary(service.dataDir)).toHaveLength(2)
  })

  test('compares pages of HTML that are meant to be some', async () => {
    const service = await startFaultyService({ hasNoDuplicateRule: true })
    loseAnswer(service)
    const mirror = mirrorOf(writeTree(temporaryDirectory(), { 'page.html': '<html>mine</html>' }))
    expect((await openTestEngine(service).sync([mirror])).outcome).toBe('done')
    expect(service.count('uploadFile')).toBe(1)
  })

  test('finds nothing in a directory that is not there', async () => {
    const service = await startFaultyService({ hasNoDuplicateRule: true })
    service.fault = (request) => (isFirstUpload(request) ? 'reset-before' : undefined)
    service.answer = ({ route }) => (route === 'listDirectory' ? { status: 404, body: {} } : undefined)
    const mirror = mirrorOf(writeTree(temporaryDirectory(), { 'a.md': 'a' }))
    expect((await openTestEngine(service).sync([mirror], { adopts: true })).outcome).toBe('done')
    expect(service.count('uploadFile')).toBe(2)
  })

  test('goes to the inbox for what an older version sent', async () => {
    const service = await startFaultyService({ hasNoDuplicateRule: true })
    const mirror = mirrorOf(writeTree(temporaryDirectory(), { 'first.md': 'first' }))
    const tested = openTestEngine(service)
    await tested.sync([mirror])
    writeTree(mirror.path, { 'a.md': 'a' })
    service.fault = ({ route }) => (route === 'uploadFile' ? 'reset-before' : undefined)
    service.answer = ({ route }) => (route === 'listDirectory' ? { status: 503, body: {} } : undefined)
    await tested.sync([mirror])
    // The place was not kept then.
    const beside = new Database(join(tested.stateDir, 'store.db'))
    expect(beside.prepare('UPDATE upload SET place = NULL WHERE content_id = 2').run().changes).toBe(1)
    beside.close()
    service.fault = () => undefined
    service.answer = () => undefined
    service.forget()
    tested.store.write(() => tested.store.quarantine.makeDue(2))
    expect((await tested.sync([mirror])).outcome).toBe('done')
    const listed = service.requests.filter(({ route }) => route === 'listDirectory').map(({ path }) => path)
    expect(listed).toEqual([expect.stringContaining('.inbox')])
  })
})
