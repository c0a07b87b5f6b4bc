/** Directories that are made, those that would be, and those that are left to a later run. */
import { describe, expect, test } from 'vitest'
import { accountOf, mirrorOf, openTestEngine } from '../../support/engine.ts'
import { startFaultyService } from '../../support/faulty-service.ts'
import { temporaryDirectory, writeTree } from '../../support/temporary.ts'

const TREE = { 'a.md': 'a', 'x/b.md': 'b', 'x/y/c.md': 'c' }

describe('a dry run', () => {
  test.each([
    ['/', 2],
    ['/one', 3],
    ['/one/two/three', 5],
  ])('into %s says how many directories would be made', async (remotePath, count) => {
    const service = await startFaultyService()
    const tested = openTestEngine(service)
    const mirror = mirrorOf(writeTree(temporaryDirectory(), TREE), { remotePath })
    const dry = accountOf(await tested.sync([mirror], { isDryRun: true }))
    expect(dry).toMatchObject({ directories: { created: count }, uploads: { created: 3 } })
    expect(service.count('createDirectory')).toBe(0)
    await tested.sync([mirror])
    expect(service.count('createDirectory')).toBe(count)
    writeTree(mirror.path, { 'z/d.md': 'd', 'z/e.md': 'd' })
    const later = accountOf(await tested.sync([mirror], { isDryRun: true }))
    expect(later).toMatchObject({ directories: { created: 1 }, uploads: { created: 1, aliases: 1 } })
  })
})

describe('directories', () => {
  test('below one that failed are not tried', async () => {
    const service = await startFaultyService()
    const refusal = { status: 422, body: { message: 'no' } }
    service.answer = ({ route, body }) =>
      route === 'createDirectory' && String(body).includes('/x') ? refusal : undefined
    const tested = openTestEngine(service)
    const mirror = mirrorOf(writeTree(temporaryDirectory(), { ...TREE, 'ok/d.md': 'd' }))
    const account = accountOf(await tested.sync([mirror]))
    expect(account.directories).toMatchObject({ created: 2, failed: 2 })
    expect(account.problems.map(({ path, code }) => [path, code])).toContainEqual(['x', 'invalid'])
    expect(
      service.requests.filter(({ route, body }) => route === 'createDirectory' && `${body}`.includes('/x')),
    ).toHaveLength(1)
  })

  test('are committed by parts when there are many', async () => {
    const service = await startFaultyService()
    const tested = openTestEngine(service)
    const tree = Object.fromEntries(Array.from({ length: 70 }, (_, index) => [`d${index}/`, '']))
    const seen: number[] = []
    service.onAnswered = ({ route }) => {
      if (route === 'createDirectory') seen.push(tested.store.directories.countPending(1))
    }
    const account = accountOf(await tested.sync([mirrorOf(writeTree(temporaryDirectory(), tree))]))
    expect(account.directories.created).toBe(71)
    // Some of the last ones find the first ones committed, before all are made.
    expect(new Set(seen).size).toBeGreaterThanOrEqual(3)
  })
})
