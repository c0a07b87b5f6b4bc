/** Whether a failure concerns only its own item, so that other items continue. */
import { describe, expect, test } from 'vitest'
import { AccessError, TemporaryError } from '../../src/foundation/errors.ts'
import { OPEN_FILES_START } from '../../src/store/tables/files.ts'
import { itemFailure } from '../../src/sync/item-failure.ts'
import { accountOf, openTestEngine, startEngine } from '../support/engine.ts'
import { createLibrary, startFaultyService } from '../support/faulty-service.ts'
import { writeTree } from '../support/temporary.ts'

async function openConnected() {
  const service = await startFaultyService()
  const libraryId = await createLibrary(service.library, 'Test')
  const { engine } = openTestEngine(service)
  const connection = await engine.service.connect(engine.signal)
  const needed = { libraryId, right: 'read' } as const
  const ask = (error: unknown, wanted: { libraryId: string; right: 'read' | 'resource.create' } = needed) =>
    itemFailure(error, connection, wanted, engine.signal)
  return { service, libraryId, ask }
}

const unclear = new AccessError('right-missing', 'no right')

describe('a failure', () => {
  test('a failure that is no answer of a service concerns everything', async () => {
    const { ask, service } = await openConnected()
    service.forget()
    expect(await ask(new TypeError('a bug'))).toBeUndefined()
    expect(await ask(new TemporaryError('service-throttling', 'later'))).toBeUndefined()
    expect(service.requests).toEqual([])
  })

  test('a refusal concerns its item when the right is granted for all', async () => {
    const { ask } = await openConnected()
    expect(await ask(unclear)).toBe(unclear)
  })

  test('a refusal concerns its item when its library grants the right', async () => {
    const { ask, service, libraryId } = await openConnected()
    const library = { id: libraryId, access: ['read'] }
    service.rewrite = ({ route }, body) =>
      route === 'checkAccess' ? { ...body, abilities: [], libraries: [{ ...library, name: 'Test' }] } : body
    expect(await ask(unclear)).toBe(unclear)
    expect(await ask(unclear, { libraryId, right: 'resource.create' })).toBeUndefined()
  })

  test('a refusal is judged by the listing when the access names no library', async () => {
    const { ask, service, libraryId } = await openConnected()
    await createLibrary(service.library, 'Another')
    service.rewrite = ({ route }, body) => (route === 'checkAccess' ? { ...body, abilities: [], libraries: [] } : body)
    expect(await ask(unclear)).toBe(unclear)
    expect(await ask(unclear, { libraryId: `${libraryId}x`, right: 'read' })).toBeUndefined()
  })

  test('a refusal concerns everything when the access check fails as well', async () => {
    const { ask, service } = await openConnected()
    service.answer = ({ route }) => (route === 'checkAccess' ? { status: 401, body: {} } : undefined)
    expect(await ask(unclear)).toBeUndefined()
  })
})

test('an upload without the right stops the run and leaves its file new', async () => {
  const { service, tested, mirror } = await startEngine({ 'a.md': 'a' })
  await tested.sync([mirror])
  writeTree(mirror.path, { 'b.md': 'b' })
  service.answer = ({ route }) => (route === 'uploadFile' ? { status: 403, body: {} } : undefined)
  service.rewrite = ({ route }, body) =>
    route === 'checkAccess' || route === 'listLibraries' ? withoutRights(body) : body
  const result = await tested.sync([mirror])
  expect(result.failure).toMatchObject({ code: 'right-missing' })
  expect(accountOf(result).uploads).toMatchObject({ created: 0, inDoubt: 0 })
  const open = tested.store.files.listOpen(1, OPEN_FILES_START, 10)
  expect(open.map(({ name, state }) => [name, state])).toEqual([['b.md', 'new']])
})

function withoutRights(body: Record<string, unknown>): unknown {
  const bare = (list: unknown) => (Array.isArray(list) ? list.map((library) => ({ ...library, access: [] })) : list)
  return { ...body, abilities: [], libraries: bare(body.libraries), data: bare(body.data) }
}
