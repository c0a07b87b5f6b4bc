/** Copies that are sent again so that their resource gains a location. */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { accountOf, mirrorOf, openTestEngine, startEngine } from '../../support/engine.ts'
import { startFaultyService } from '../../support/faulty-service.ts'
import { readLibrary } from '../../support/library-contents.ts'
import { temporaryDirectory, writeTree } from '../../support/temporary.ts'

const COPIES = { 'a.md': 'same', 'b/copy.md': 'same', 'c/copy-2.md': 'same', 'd/copy-3.md': 'same' }

async function openWithCopies(transfers = 4) {
  const service = await startFaultyService({ mayRepeat: 'copies are linked' })
  const mirror = mirrorOf(writeTree(temporaryDirectory(), COPIES), { duplicates: 'link' })
  return { service, mirror, tested: openTestEngine(service, { limits: { transfers } }) }
}

describe('copies that are linked', () => {
  test('linked copies are one resource with a location each', async () => {
    const { service, mirror, tested } = await openWithCopies()
    const result = await tested.sync([mirror])
    expect(result.outcome).toBe('done')
    expect(accountOf(result).uploads).toMatchObject({ created: 1, duplicates: 3 })
    expect(readLibrary(service.dataDir).map(({ places }) => places.length)).toEqual([4])
    expect(tested.engine.inFlight.size).toBe(0)
  })

  test('linked copies are sent again by the next run after a refusal', async () => {
    const { service, mirror, tested } = await openWithCopies()
    service.answer = ({ fileName }) => (fileName === 'copy-2.md' ? { status: 413, body: {} } : undefined)
    const result = await tested.sync([mirror])
    expect(accountOf(result).problems).toMatchObject([{ path: 'c/copy-2.md', code: 'too-large' }])
    expect(tested.store.contents.get(1)).toMatchObject({ state: 'stored', problemCode: null })
    service.answer = () => undefined
    expect((await tested.sync([mirror])).outcome).toBe('done')
    expect(readLibrary(service.dataDir).map(({ places }) => places.length)).toEqual([4])
  })

  test('a linked copy that vanishes before it is sent is named', async () => {
    const { service, mirror, tested } = await openWithCopies(1)
    service.onUploadBegun = () => rmSync(join(mirror.path, 'd'), { recursive: true, force: true })
    const result = await tested.sync([mirror])
    expect(accountOf(result).problems).toMatchObject([{ path: 'd/copy-3.md', code: 'vanished' }])
    expect(accountOf(result).uploads).toMatchObject({ created: 1, duplicates: 2, waiting: 1 })
  })

  test('a linked copy that changed is read again and sent', async () => {
    const { service, mirror, tested } = await openWithCopies(1)
    service.onUploadBegun = () => {
      service.onUploadBegun = () => {}
      writeTree(mirror.path, { 'd/copy-3.md': 'other' })
    }
    expect((await tested.sync([mirror])).outcome).toBe('done')
    expect(readLibrary(service.dataDir)).toHaveLength(2)
  })
})

test('a file that vanishes before it is sent is named', async () => {
  const { service, tested, mirror } = await startEngine({ 'a.md': 'a', 'b.md': 'b' }, { limits: { transfers: 1 } })
  service.onUploadBegun = () => rmSync(join(mirror.path, 'b.md'), { force: true })
  const result = await tested.sync([mirror])
  expect(accountOf(result)).toMatchObject({
    problems: [{ path: 'b.md', code: 'vanished' }],
    uploads: { created: 1, waiting: 1 },
  })
})

describe('a credential refused among links', () => {
  test('links ended by a refused credential are left to the next run', async () => {
    const { service, mirror, tested } = await openWithCopies(1)
    service.answer = ({ fileName }) => (fileName === 'copy.md' ? { status: 401, body: {} } : undefined)
    expect((await tested.sync([mirror])).failure).toMatchObject({ code: 'credential-refused' })
    expect(tested.store.contents.get(1)?.state).toBe('stored')
    service.answer = () => undefined
    expect((await tested.sync([mirror])).outcome).toBe('done')
    expect(readLibrary(service.dataDir).map(({ places }) => places.length)).toEqual([4])
  })
})

describe('a copy whose directory cannot be created', () => {
  test.each([
    ['link', 3],
    ['skip', 1],
  ] as const)('a copy whose directory cannot be created is sent nowhere (%s)', async (duplicates, places) => {
    const service = await startFaultyService({ mayRepeat: 'copies are linked' })
    const mirror = mirrorOf(writeTree(temporaryDirectory(), COPIES), { duplicates })
    const refused = { status: 422, body: { message: 'no such name' } }
    service.answer = ({ route, body }) =>
      route === 'createDirectory' && JSON.parse(String(body)).path === `${mirror.remotePath}/b` ? refused : undefined
    const tested = openTestEngine(service)
    for (const run of ['first', 'second']) {
      const result = await tested.sync([mirror])
      expect({ run, outcome: result.outcome }).toEqual({ run, outcome: 'failures' })
      expect(accountOf(result).problems).toMatchObject([{ path: 'b', code: 'invalid' }])
    }
    expect(service.requests.filter(({ fileName }) => fileName === 'copy.md')).toEqual([])
    expect(readLibrary(service.dataDir).map((resource) => resource.places.length)).toEqual([places])
    service.answer = () => undefined
    expect((await tested.sync([mirror])).outcome).toBe('done')
    expect(readLibrary(service.dataDir).map((resource) => resource.places.length)).toEqual([
      duplicates === 'link' ? 4 : 1,
    ])
  })
})
