import { expect, test } from 'vitest'
import { PlannedDatabase } from '../../../src/foundation/sqlite/open-database.ts'

function sourceOf(sql: string): string {
  using open = new DisposableStack()
  const database = open.adopt(new PlannedDatabase(':memory:'), (opened) => opened.close())
  database.exec('CREATE TABLE file (id INTEGER PRIMARY KEY, name TEXT, size INTEGER)')
  return database.prepare(sql).source
}

test.for([
  ['SELECT id FROM file WHERE name = ? LIMIT ?', 'SELECT id FROM file WHERE name = +? LIMIT +?'],
  ['SELECT id FROM file WHERE size IS @size', 'SELECT id FROM file WHERE size IS +@size'],
  ['SELECT id FROM file WHERE size >= ? AND id <> ?', 'SELECT id FROM file WHERE size >= ? AND id <> ?'],
] as const)('a statement is planned once for all values: %s', ([sql, planned]) => {
  expect(sourceOf(sql)).toBe(planned)
})

test('a statement compares a text with the same text', () => {
  using open = new DisposableStack()
  const database = open.adopt(new PlannedDatabase(':memory:'), (opened) => opened.close())
  database.exec("CREATE TABLE file (name TEXT, size INTEGER); INSERT INTO file VALUES ('7', 7)")
  const find = database.prepare<[string, number], { n: number }>(
    'SELECT count(*) AS n FROM file WHERE name = ? AND size = ?',
  )
  expect([find.get('7', 7)?.n, find.get('8', 7)?.n, find.get('7', 8)?.n]).toEqual([1, 0, 0])
})
