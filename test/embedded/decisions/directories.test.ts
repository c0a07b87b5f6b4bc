import { describe, expect, it } from 'vitest'
import { directoryNode, directoryPage } from '../../../src/contract/records.ts'
import { pluck } from '../../contract/service-client.ts'
import { shareLibrary } from '../common-library.ts'

const ODD_NAMES = [
  'a\nb',
  '"quotes" & \'marks\'',
  'ünï 漢字 🎉',
  '..x',
  ' ',
  'a\\b',
  'é',
  `${'n'.repeat(255)}`,
  '%2F',
  '+',
]

const context = shareLibrary()
const create = (library: string, path: string) =>
  context.client.call('POST', `/libraries/${library}/directory`, { path })

describe('directories of the embedded library', () => {
  it('a new directory is answered with its location', async () => {
    const library = await context.newLibrary()
    const { status, json, headers } = await create(library, '/papers/')
    expect(status).toBe(201)
    expect(directoryNode.parse(json)).toMatchObject({ name: 'papers', parent_id: null })
    const location = headers.get('location') ?? ''
    expect(location).toMatch(/^\/[^/]/)
    const nested = directoryNode.parse((await create(library, '/papers/old')).json)
    expect(nested).toMatchObject({ name: 'old', parent_id: json.id })
    const shown = await context.client.get(location.replace('/api/v1', ''))
    expect(pluck(shown.json.folders, 'name')).toEqual(['old'])
  })

  it.each(ODD_NAMES)('the directory name %j is kept unchanged', async (name) => {
    const library = await context.newLibrary()
    expect((await create(library, `/${name}`)).status).toBe(201)
    expect((await create(library, `/${name}/inside`)).status).toBe(201)
    expect(pluck((await context.client.listing(library)).json.folders, 'name')).toContain(name)
    expect(pluck((await context.client.listing(library, { path: `/${name}` })).json.folders, 'name')).toEqual([
      'inside',
    ])
  })

  it('an existing directory is answered with 409', async () => {
    const library = await context.newLibrary()
    await create(library, '/a')
    for (const path of ['/a', '/a/', '/', '/.inbox']) expect((await create(library, path)).status).toBe(409)
  })

  it('a missing parent or path is answered with 404', async () => {
    const library = await context.newLibrary()
    expect((await create(library, '/no/child')).status).toBe(404)
    expect((await context.client.listing(library, { path: '/no' })).status).toBe(404)
    expect((await context.client.listing(library, { path: '/.INBOX' })).status).toBe(404)
    expect((await context.client.listing('unknown')).status).toBe(404)
  })

  it.each(['', 'relative', '/a//b', '/.', '/../a', '/a/./b', '/a\0b'])(
    'the path %j is refused with 422',
    async (path) => {
      const library = await context.newLibrary()
      const made = await create(library, path)
      expect({ status: made.status, errors: made.json.errors }).toEqual({
        status: 422,
        errors: { path: expect.any(Array) },
      })
      expect((await context.client.listing(library, { path })).status).toBe(422)
    },
  )

  it('paging neither repeats nor skips entries made meanwhile', async () => {
    const library = await context.newLibrary()
    for (const name of ['b', 'd']) await create(library, `/${name}`)
    const first = directoryPage.parse((await context.client.listing(library, { limit: '2' })).json)
    for (const name of ['a', 'c']) await create(library, `/${name}`)
    const rest = await context.client.listing(library, { cursor: first.next_cursor ?? '' })
    expect(pluck(first.folders, 'name')).toEqual(['.inbox', 'b'])
    expect(pluck(rest.json.folders, 'name')).toEqual(['c', 'd'])
  })

  it('a cursor of another directory is refused', async () => {
    const library = await context.newLibrary()
    await create(library, '/a')
    const { json } = await context.client.listing(library, { limit: '1' })
    const cursor = String(json.next_cursor)
    expect((await context.client.listing(library, { cursor })).status).toBe(200)
    for (const query of [{ cursor, path: '/a' }, { cursor: `${cursor}x` }, { cursor: 'x' }]) {
      expect((await context.client.listing(library, query)).status).toBe(422)
    }
  })
})
