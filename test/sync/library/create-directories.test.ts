/** Directories that a run makes, would make, or leaves to a later run. */
import { describe, expect, test } from 'vitest'
import { accountOf, mirrorOf, openTestEngine, startEngine } from '../../support/engine.ts'
import { startFaultyService } from '../../support/faulty-service.ts'
import { temporaryDirectory, writeTree } from '../../support/temporary.ts'

const TREE = { 'a.md': 'a', 'x/b.md': 'b', 'x/y/c.md': 'c' }

test.each([
  ['/', 2],
  ['/one', 3],
  ['/one/two/three', 5],
])('a dry run into %s counts the directories it would make', async (remotePath, count) => {
  const { service, tested, mirror } = await startEngine(TREE, { mirror: { remotePath } })
  const dry = accountOf(await tested.sync([mirror], { isDryRun: true }))
  expect(dry).toMatchObject({ directories: { created: count }, uploads: { created: 3 } })
  expect(service.count('createDirectory')).toBe(0)
  await tested.sync([mirror])
  expect(service.count('createDirectory')).toBe(count)
  writeTree(mirror.path, { 'z/d.md': 'd', 'z/e.md': 'd' })
  const later = accountOf(await tested.sync([mirror], { isDryRun: true }))
  expect(later).toMatchObject({ directories: { created: 1 }, uploads: { created: 1, aliases: 1 } })
})

describe('directories', () => {
  test('directories below a failed one are not tried', async () => {
    const { service, tested, mirror } = await startEngine({ ...TREE, 'ok/d.md': 'd' })
    const refusal = { status: 422, body: { message: 'no' } }
    service.answer = ({ route, body }) =>
      route === 'createDirectory' && String(body).includes('/x') ? refusal : undefined
    const account = accountOf(await tested.sync([mirror]))
    expect(account.directories).toMatchObject({ created: 2, failed: 2 })
    expect(account.problems.map(({ path, code }) => [path, code])).toContainEqual(['x', 'invalid'])
    expect(
      service.requests.filter(({ route, body }) => route === 'createDirectory' && `${body}`.includes('/x')),
    ).toHaveLength(1)
  })

  test('directories that always fail keep no deeper one from being created [F-SV-21]', async () => {
    const service = await startFaultyService()
    const tested = openTestEngine(service)
    const path = writeTree(temporaryDirectory(), { 'good/a.md': 'a' })
    await tested.sync([mirrorOf(path)])
    const broken = { status: 200, body: { id: 7 } }
    service.answer = ({ route, body }) =>
      route === 'createDirectory' && String(body).includes('bad') ? broken : undefined
    writeTree(path, { 'bad1/b.md': 'b', 'bad2/c.md': 'c', 'bad3/d.md': 'd', 'good/deep/e.md': 'e' })
    await tested.sync([mirrorOf(path)])
    const { uploads } = accountOf(await tested.sync([mirrorOf(path)]))
    expect(service.requests.map(({ fileName }) => fileName)).toContain('e.md')
    expect(uploads.failed).toBe(0)
  })

  test('a directory that gets the id of one that vanished while the service created it is not taken for created [F-FS-25]', async () => {
    const service = await startFaultyService()
    const tested = openTestEngine(service)
    const { directories, write } = tested.store
    // As a scan does when the directory was renamed meanwhile.
    service.onResponse = ({ route, body }) => {
      if (route !== 'createDirectory' || !String(body).includes('/before')) return
      write(() => {
        const id = directories.find(1, 'before') ?? 0
        directories.remove(id)
        expect(directories.ensure(1, 'after')).toBe(id)
      })
    }
    await tested.sync([mirrorOf(writeTree(temporaryDirectory(), { 'before/': '' }))])
    expect(directories.get(1, 'after')).toMatchObject({ createdAt: null })
  })

  test('after three failures in a row the other directories wait for the next run', async () => {
    const service = await startFaultyService()
    const tested = openTestEngine(service, { limits: { transfers: 1 } })
    const broken = { status: 200, body: { id: 7 } }
    service.answer = ({ route, body }) =>
      route === 'createDirectory' && String(body).includes('bad') ? broken : undefined
    const tree = Object.fromEntries([1, 2, 3, 4, 5].map((number) => [`bad${number}/`, '']))
    const account = accountOf(await tested.sync([mirrorOf(writeTree(temporaryDirectory(), tree))]))
    expect(account.directories).toMatchObject({ created: 1, failed: 5 })
    expect(account.problems).toHaveLength(3)
  })

  test('a credential that is refused for a directory ends the run', async () => {
    const service = await startFaultyService()
    const tested = openTestEngine(service)
    service.answer = ({ route }) => (route === 'createDirectory' ? { status: 401, body: {} } : undefined)
    const result = await tested.sync([mirrorOf(writeTree(temporaryDirectory(), TREE))])
    expect(result.failure).toMatchObject({ code: 'credential-refused' })
  })

  test.each(['uploadFile', 'createDirectory'])(
    'a directory that was refused is named although a later %s stops the run',
    async (route) => {
      const service = await startFaultyService()
      const tested = openTestEngine(service, { limits: { transfers: 1 } })
      const isBad = (body: unknown) => String(body).includes('bad')
      service.answer = (seen) => {
        if (seen.route === 'createDirectory' && isBad(seen.body)) return { status: 422, body: { message: 'no' } }
        const isLater =
          route === 'uploadFile' || (isBad(service.requests.map(({ body }) => body)) && seen.body.includes('last'))
        return seen.route === route && isLater ? { status: 401, body: {} } : undefined
      }
      const tree = { 'bad/': '', 'above/last/': '', 'a.md': 'a' }
      const result = await tested.sync([mirrorOf(writeTree(temporaryDirectory(), tree))])
      expect(result.failure).toMatchObject({ code: 'credential-refused' })
      expect(accountOf(result).problems).toContainEqual(expect.objectContaining({ path: 'bad', code: 'invalid' }))
    },
  )

  test('many directories are committed in parts', async () => {
    const service = await startFaultyService()
    const tested = openTestEngine(service)
    const tree = Object.fromEntries(Array.from({ length: 70 }, (_, index) => [`d${index}/`, '']))
    const seen: number[] = []
    service.onResponse = ({ route }) => {
      if (route === 'createDirectory') seen.push(tested.store.directories.listPending(1).length)
    }
    const account = accountOf(await tested.sync([mirrorOf(writeTree(temporaryDirectory(), tree))]))
    expect(account.directories.created).toBe(71)
    // When the last directories are made, the first ones are committed already.
    expect(new Set(seen).size).toBeGreaterThanOrEqual(3)
  })
})
