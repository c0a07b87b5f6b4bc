import { expect, onTestFinished, test } from 'vitest'
import { createReportSnapshot, type SnapshotRow } from '../../src/store/report-snapshot.ts'

const NONE = { classes: [], text: '', below: '' } as const

function snapshotOf(...rows: (readonly [path: string | null, of: SnapshotRow['class']])[]) {
  const snapshot = createReportSnapshot()
  onTestFinished(() => snapshot[Symbol.dispose]())
  snapshot.add(rows.map(([path, of]) => ({ path, class: of, reason: null, sizeBytes: 1, resourceId: null })))
  return snapshot
}

const paths = (rows: readonly SnapshotRow[]) => rows.map(({ path }) => path)

test('rows are filtered by class, text and directory', () => {
  const snapshot = snapshotOf(
    ['b.md', 'in-sync'],
    ['A/Ünder.md', 'needs-attention'],
    ['A/b/c.md', 'in-sync'],
    ['A0.md', 'local-only'],
    [null, 'remote-only'],
  )
  const list = (filter: Partial<Parameters<typeof snapshot.list>[0]>) =>
    paths(snapshot.list({ ...NONE, ...filter }, { offset: 0, limit: 10 }))
  expect(list({})).toEqual([null, 'A/b/c.md', 'A/Ünder.md', 'A0.md', 'b.md'])
  expect(list({ classes: ['in-sync', 'remote-only'] })).toEqual([null, 'A/b/c.md', 'b.md'])
  expect(list({ text: 'ÜNDER' })).toEqual(['A/Ünder.md'])
  expect(list({ text: '%' })).toEqual([])
  expect(list({ below: 'A' })).toEqual(['A/b/c.md', 'A/Ünder.md'])
  expect(snapshot.tally({ ...NONE, classes: ['in-sync'], below: 'A' })).toEqual([
    { class: 'in-sync', n: 1 },
    { class: 'needs-attention', n: 1 },
  ])
})

test('pages of rows follow each other without gap or repetition', () => {
  const names = Array.from({ length: 25 }, (_, index) => `${String(index).padStart(2, '0')}.md`)
  const snapshot = snapshotOf(...names.toReversed().map((name) => [name, 'in-sync'] as const))
  const pages = [0, 10, 20].map((offset) => paths(snapshot.list(NONE, { offset, limit: 10 })))
  expect(pages.flat()).toEqual(names)
})

test('a directory shows its files, and counts below its directories', () => {
  const snapshot = snapshotOf(
    ['a.md', 'in-sync'],
    ['Ü/x.md', 'in-sync'],
    ['Ü/y/z.md', 'changed'],
    ['Ü/y/w.md', 'changed'],
    [null, 'remote-only'],
  )
  expect(snapshot.tallyDirectories('')).toEqual([
    { name: 'Ü', class: 'changed', n: 2 },
    { name: 'Ü', class: 'in-sync', n: 1 },
  ])
  expect(snapshot.tallyDirectories('Ü')).toEqual([{ name: 'y', class: 'changed', n: 2 }])
  expect([paths(snapshot.listFiles('', 5)), snapshot.countFiles('')]).toEqual([['a.md'], 1])
  expect([paths(snapshot.listFiles('Ü/y', 1)), snapshot.countFiles('Ü/y')]).toEqual([['Ü/y/w.md'], 2])
  expect([snapshot.listFiles('none', 5), snapshot.countFiles('none')]).toEqual([[], 0])
})
