import { expect, test } from 'vitest'
import { type Removal, removeResources } from '../../../src/sync/operator/tidy-library.ts'

test('removals are recorded by their identifiers alone, before and after, a hundred at a time', async () => {
  const resources = Array.from({ length: 101 }, (_, contentId) => {
    return { contentId, resourceId: `r${contentId}`, libraryId: 'l', sizeBytes: 1, path: 'x'.repeat(4_000) }
  })
  const records: Removal[] = []
  const record = async (removal: Removal) => {
    records.push(removal)
    return removal.resources.map(({ contentId }) => contentId)
  }
  const client = { deleteResource: async () => {} }
  const { signal } = new AbortController()
  expect(await removeResources({ client, signal, record }, resources, 'unused')).toBe(101)
  expect(records.map(({ as, resources: named }) => [as, named.length])).toEqual([
    ['unused', 100],
    ['gone', 100],
    ['unused', 1],
    ['gone', 1],
  ])
  expect(records.at(-1)?.resources).toEqual([{ contentId: 100, resourceId: 'r100' }])
})
