import { describe, expect, it } from 'vitest'
import { libraryRecord } from '../../../src/contract/records.ts'
import { shareLibrary } from '../common-library.ts'

const context = shareLibrary()
describe('libraries of the embedded library', () => {
  it('a library is created and shown', async () => {
    const name = `Läbräry "${crypto.randomUUID()}"`
    const made = await context.client.call('POST', '/libraries', { name, overview: 'About it' })
    expect(made.status).toBe(201)
    const library = libraryRecord.parse(made.json)
    expect(library).toMatchObject({ name, overview: 'About it' })
    expect(made.headers.get('location')).toMatch(new RegExp(`^http://127.0.0.1:\\d+/api/v1/libraries/${library.id}$`))
    expect((await context.client.get(`/libraries/${library.id}`)).json).toEqual(made.json)
  })

  it.each([[{}], [{ name: '' }], [{ name: 7 }], [[]], [{ name: 'x', overview: 7 }]])(
    'the library %j is refused with 422',
    async (body) => {
      const { status, json } = await context.client.call('POST', '/libraries', body)
      expect({ status, errors: json.errors }).toEqual({ status: 422, errors: expect.any(Object) })
    },
  )

  it.each(['0', '501', '-1', 'x', '1.5', ''])('the page size "%s" is refused with 422', async (limit) => {
    expect((await context.client.get(`/libraries?limit=${limit}`)).status).toBe(422)
  })

  it('a cursor that the service never gave is refused', async () => {
    expect((await context.client.get('/libraries?cursor=bm90aGluZw')).status).toBe(422)
  })
})
