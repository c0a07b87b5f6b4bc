import { join } from 'node:path'
import { expect, it, onTestFinished, vi } from 'vitest'
import { openLibraryDatabase } from '../../../src/embedded/database/open-library-database.ts'
import { openTables } from '../../../src/embedded/database/open-tables.ts'
import { openSearchIndex } from '../../../src/embedded/search/search-index.ts'
import { temporaryDirectory } from '../temporary-library.ts'

it('no query needs an index that it would have to make of a whole table first', () => {
  const database = openLibraryDatabase(join(temporaryDirectory(), 'library.sqlite'))
  onTestFinished(() => void database.close())
  const prepare = vi.spyOn(database, 'prepare')
  openTables(database)
  openSearchIndex(database)
  const statements = prepare.mock.calls.map(([sql]) => sql).filter((sql) => !sql.startsWith('PRAGMA'))
  prepare.mockRestore()
  const planOf = (sql: string) =>
    database.prepare<[], { detail: string }>(`EXPLAIN QUERY PLAN ${sql.replace(/\?|@\w+/g, '1')}`).all()
  expect(statements.length).toBeGreaterThan(80)
  expect(statements.filter((sql) => planOf(sql).some(({ detail }) => detail.includes('AUTOMATIC')))).toEqual([])
})
