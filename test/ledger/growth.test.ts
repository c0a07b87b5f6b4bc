/** A ledger on PostgreSQL that grows while a connection keeps the plans that it made when there was hardly a row. */
import { expect, test } from 'vitest'
import { initialise } from '../../src/ledger/postgres/ledger-schema.ts'
import { postgresLedger } from '../../src/ledger/postgres/postgres-ledger.ts'
import { createDatabase, needsPostgres } from '../support/postgres.ts'
import { manyWanted, NO_LIMIT, newLibrary, wanted } from './test-host.ts'

needsPostgres()

test('a connection that planned its looks in a small ledger reads no more rows in a large one', async () => {
  await using database = await createDatabase()
  await initialise(database.address, 60_000)
  const ledger = postgresLedger(database.address)
  const library = newLibrary()
  const { session } = await ledger.open({ key: 'k', name: 'nas', version: '1' }, null)
  const created = (content: ReturnType<typeof wanted>, nth: number) => ({
    ...{ ...content, session, library, kind: 'created' as const, resourceId: `s${nth}` },
  })
  await ledger.claim(session, library, [wanted('a')], NO_LIMIT)
  await ledger.settle(session, 1n, [created(wanted('a'), -1)])
  await database.run('ANALYZE shelfd.content')
  await ledger.claim(session, library, [wanted('b')], NO_LIMIT)
  await database.run(
    `INSERT INTO shelfd.content SELECT c.library_id, sha256(int8send(i)), c.mime, 1, 'r' || i, 'p', c.host_id
      FROM shelfd.content c, generate_series(1, 5000) i`,
  )
  await ledger.claim(session, library, manyWanted(500), NO_LIMIT)
  await ledger.settle(session, 2n, manyWanted(500).map(created))
  // A connection reports what it has read when it ends.
  await ledger[Symbol.asyncDispose]()
  const readRows = async () => {
    const text =
      'SELECT sum(idx_tup_read)::int AS read, count(*)::int AS n FROM pg_stat_user_indexes WHERE idx_scan > 500'
    return (await database.run(text))[0]
  }
  await expect.poll(readRows, { timeout: 10_000 }).toMatchObject({ n: 2 })
  expect((await readRows())?.read).toBeLessThan(5_000)
})
