/** How the store writes beside other connections, and what its statements contain. */
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { expect, onTestFinished, test, vi } from 'vitest'
import { openStore } from '../../src/store/open-store.ts'
import { mirrorOf, startEngine } from '../support/engine.ts'
import { temporaryDirectory, writeTree } from '../support/temporary.ts'

test('a transaction is a writer before it reads [F-PR-06]', async () => {
  const directory = temporaryDirectory()
  using store = openStore(directory)
  const other = new Database(join(directory, 'store.db'), { timeout: 0 })
  const mayWrite = () => {
    try {
      other.exec("BEGIN IMMEDIATE; INSERT INTO meta (key, value) VALUES ('other', '1'); ROLLBACK")
      return true
    } catch {
      return false
    }
  }
  // A transaction that reads before its first write could hold an old snapshot and fail at the write.
  const seen = [
    store.write(() => [store.mirrors.list().length, mayWrite()]),
    store.writeRelaxed(() => [store.mirrors.list().length, mayWrite()]),
    await store.rollBackAfter(async () => [store.mirrors.list().length, mayWrite()]),
  ]
  expect(seen).toEqual([
    [0, false],
    [0, false],
    [0, false],
  ])
  expect(mayWrite()).toBe(true)
  other.close()
})

test('statements never contain a value, whatever it is [S-10]', async () => {
  const given = ['prepare', 'exec', 'pragma'] as const
  const spies = given.map((method) => vi.spyOn(Database.prototype, method))
  onTestFinished(() => spies.forEach((spy) => void spy.mockRestore()))
  const odd = `canary'; DROP TABLE file; --"`
  const { service, tested } = await startEngine({}, { service: { library: odd } })
  const root = writeTree(temporaryDirectory(), { [`${odd}.md`]: 'A', [`${odd}/b.md`]: 'B', 'c.md': odd })
  const mirror = mirrorOf(root, { name: odd, library: odd, remotePath: `/${odd}` })
  expect((await tested.sync([mirror])).outcome).toBe('done')
  expect((await tested.report([mirror])).rows).toHaveLength(3)
  const headers = { authorization: `Bearer ${service.token}` }
  const query = encodeURIComponent(odd)
  const found = await fetch(`${service.library.url}/api/v1/search/resources?query=${query}`, { headers })
  expect(found.status).toBe(200)
  const statements = spies.flatMap((spy) => spy.mock.calls.map(([sql]) => String(sql)))
  expect(statements.length).toBeGreaterThan(100)
  expect(statements.filter((sql) => sql.includes('canary'))).toEqual([])
})
