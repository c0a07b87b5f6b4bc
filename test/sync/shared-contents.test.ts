import { join } from 'node:path'
import { expect, test } from 'vitest'
import { accountOf, mirrorOf, openTestEngine } from '../support/engine.ts'
import { type SeenRequest, startFaultyService } from '../support/faulty-service.ts'
import { readLibrary } from '../support/library-contents.ts'
import { manyFiles, temporaryDirectory, writeTree } from '../support/temporary.ts'

test('a content that another mirror is sending is sent once [P3]', async () => {
  await using service = await startFaultyService({ library: 'Test', hasNoDuplicateRule: true })
  await using tested = openTestEngine(service)
  const root = temporaryDirectory()
  const one = mirrorOf(writeTree(join(root, 'one'), { 'a.md': 'shared' }))
  const two = mirrorOf(writeTree(join(root, 'two'), { 'b.md': 'shared' }))
  const begun = Promise.withResolvers<void>()
  const released = Promise.withResolvers<void>()
  service.onUploadBegun = () => {
    begun.resolve()
    return released.promise
  }
  const first = tested.sync([one])
  await begun.promise
  const second = await tested.sync([two])
  expect(second.outcome).toBe('done')
  expect(accountOf(second).uploads).toMatchObject({ created: 0, inDoubt: 0 })
  released.resolve()
  expect((await first).outcome).toBe('done')
  expect(accountOf(await tested.sync([two])).files).toMatchObject({ unchanged: 1 })
  expect(service.count('uploadFile')).toBe(1)
})

test('a content that two mirrors begin to send at once is sent once [P3]', async () => {
  await using service = await startFaultyService({ library: 'Test', hasNoDuplicateRule: true })
  await using tested = openTestEngine(service)
  const root = temporaryDirectory()
  const one = mirrorOf(writeTree(join(root, 'one'), manyFiles(40, 20)))
  const two = mirrorOf(writeTree(join(root, 'two'), manyFiles(40, 20)))
  const results = await Promise.all([tested.sync([one]), tested.sync([two])])
  expect(results.map(({ outcome }) => outcome)).toEqual(['done', 'done'])
  expect(service.count('uploadFile')).toBe(20)
  expect(readLibrary(service.dataDir)).toHaveLength(20)
})

test('a content in doubt in two mirrors is sent once more [P3, P4]', async () => {
  await using service = await startFaultyService({ library: 'Test', hasNoDuplicateRule: true })
  await using tested = openTestEngine(service)
  const root = temporaryDirectory()
  const one = mirrorOf(writeTree(join(root, 'one'), { 'first.md': 'first' }))
  const two = mirrorOf(writeTree(join(root, 'two'), { 'b.md': 'shared' }))
  await tested.sync([one])
  service.forget()
  writeTree(one.path, { 'a.md': 'shared' })
  const isLook = ({ route, path }: SeenRequest) => route === 'listDirectory' && path.includes('path=%2Fone&')
  service.fault = ({ route }) => (route === 'uploadFile' ? 'reset-before' : undefined)
  service.answer = (request) => (isLook(request) ? { status: 503, body: {} } : undefined)
  await tested.sync([one])
  expect(service.count('uploadFile')).toBe(1)
  tested.store.write(() => tested.store.quarantine.makeDue(2))

  service.fault = () => undefined
  service.answer = () => undefined
  const isLooking = Promise.withResolvers<void>()
  const isOver = Promise.withResolvers<void>()
  let looks = 0
  service.onResponse = async (request) => {
    if (!isLook(request)) return
    looks += 1
    if (looks > 1) return
    isLooking.resolve()
    await isOver.promise
  }
  const first = tested.sync([one])
  await isLooking.promise
  // The second mirror looks as well, finds nothing, and sends.
  expect((await tested.sync([two])).outcome).toBe('done')
  isOver.resolve()
  expect((await first).outcome).toBe('done')
  expect(looks).toBeGreaterThanOrEqual(2)
  expect(service.count('uploadFile')).toBe(2)
  expect(readLibrary(service.dataDir)).toHaveLength(2)
})

test('a search goes where the content was sent, whatever is configured now [P3, P4]', async () => {
  await using service = await startFaultyService({ library: 'Test', hasNoDuplicateRule: true })
  const mirror = mirrorOf(writeTree(temporaryDirectory(), { 'sub/a.md': 'A' }))
  let landsInPlace = true
  await using tested = openTestEngine(service, {
    wrapClient: (client) => ({
      ...client,
      capabilities: async (signal) => {
        const facts = await client.capabilities(signal)
        return landsInPlace ? facts : { ...facts, uploadDirectoryField: { source: 'configuration', field: undefined } }
      },
    }),
  })
  service.fault = ({ route }) => (route === 'uploadFile' ? 'reset-after' : undefined)
  service.answer = ({ route, path }) =>
    route === 'listDirectory' && path.includes('%2Fsub') ? { status: 503, body: {} } : undefined
  expect((await tested.sync([mirror])).outcome).toBe('temporary')
  expect(readLibrary(service.dataDir).flatMap(({ places }) => places)).toEqual([`${mirror.remotePath}/sub/a.md`])

  service.fault = () => undefined
  service.answer = () => undefined
  landsInPlace = false
  tested.store.write(() => tested.store.quarantine.makeDue(1))
  expect((await tested.sync([mirror])).outcome).toBe('done')
  expect(service.count('uploadFile')).toBe(1)
  expect(readLibrary(service.dataDir)).toHaveLength(1)
})
