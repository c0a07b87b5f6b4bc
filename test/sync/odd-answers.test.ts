/** Valid answers that are unusual. */
import { describe, expect, test } from 'vitest'
import { ServiceClient } from '../contract/service-client.ts'
import { accountOf, startEngine } from '../support/engine.ts'

/** The answer with an unknown field in each object. */
function withSurprises(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withSurprises)
  if (typeof value !== 'object' || value === null) return value
  const fields = Object.entries(value).map(([key, inner]) => [key, withSurprises(inner)])
  return { ...Object.fromEntries(fields), surprise: { id: 7, next_cursor: 'x', toString: null } }
}

describe('answers', () => {
  test('answers with unknown fields are read [F-SV-19]', async () => {
    const { service, tested, mirror } = await startEngine({ 'a.md': 'A', 'sub/b.md': 'B' })
    let answers = 0
    service.rewrite = ({ route }, body) => {
      answers += 1
      return route === 'description' ? body : withSurprises(body)
    }
    const result = await tested.sync([mirror])
    expect(result.outcome).toBe('done')
    expect(accountOf(result)).toMatchObject({ uploads: { created: 2 }, ingestion: { searchable: 2 }, problems: [] })
    const { listing, rows } = await tested.report([mirror])
    expect(listing).toBe('complete')
    expect(rows.map(({ entry }) => entry.class)).toEqual(['in-sync', 'in-sync'])
    expect(answers).toBeGreaterThan(8)
  })

  test('one id listed at two paths is one resource with two locations [F-SV-18]', async () => {
    const { service, tested, mirror } = await startEngine({ 'a.md': 'A', 'sub/b.md': 'B' })
    await tested.sync([mirror])
    const entries = (await tested.report([mirror])).rows.map(({ entry }) => entry)
    // Another client adds the same bytes: the same resource in another place.
    const libraryId = tested.store.mirrors.list()[0]?.library.remoteId ?? ''
    const file = { name: 'a.md', content: 'A', type: 'text/markdown' }
    expect(await new ServiceClient(service.library).upload(libraryId, file)).toMatchObject({ status: 200 })
    const { rows, listing } = await tested.report([mirror])
    expect(listing).toBe('complete')
    expect(rows.map(({ entry }) => entry)).toEqual(
      entries.map((entry) =>
        entry.path === 'a.md' ? { ...entry, remotePaths: ['/.inbox/a.md', ...entry.remotePaths] } : entry,
      ),
    )
    const result = await tested.sync([mirror])
    expect(accountOf(result)).toMatchObject({ uploads: { created: 0, duplicates: 0 }, problems: [] })
  })
})
