import { describe, expect, it } from 'vitest'
import { libraryPage, libraryRecord } from '../../src/contract/records.ts'
import type { ServiceClient } from './service-client.ts'
import type { ContractContext } from './service-contract.ts'

export function libraryContract(context: ContractContext): void {
  describe('libraries (4.6 to 4.9)', () => {
    it('creates a library and shows it', async () => {
      const name = `Läbräry "${crypto.randomUUID()}"`
      const made = await context.client.call('POST', '/libraries', { name, overview: 'About it' })
      expect(made.status).toBe(201)
      const library = libraryRecord.parse(made.json)
      expect(library).toMatchObject({ name, overview: 'About it' })
      expect(made.headers.get('location')).toBe(`${context.service.url}/api/v1/libraries/${library.id}`)
      expect((await context.client.get(`/libraries/${library.id}`)).json).toEqual(made.json)
    })

    it.each([[{}], [{ name: '' }], [{ name: 7 }], [[]], [{ name: 'x', overview: 7 }]])(
      'refuses the library %j with 422',
      async (body) => {
        const { status, json } = await context.client.call('POST', '/libraries', body)
        expect({ status, errors: json.errors }).toEqual({ status: 422, errors: expect.any(Object) })
      },
    )

    it('pages through libraries once each', async () => {
      const made = [await context.newLibrary(), await context.newLibrary(), await context.newLibrary()]
      const seen = await everyLibrary(context.client, 2)
      expect(new Set(seen).size).toBe(seen.length)
      expect(seen.filter((id) => made.includes(id))).toHaveLength(3)
    })

    it.each(['0', '501', '-1', 'x', '1.5', ''])('refuses the page size "%s" with 422', async (limit) => {
      expect((await context.client.get(`/libraries?limit=${limit}`)).status).toBe(422)
    })

    it('refuses a cursor it never gave', async () => {
      expect((await context.client.get('/libraries?cursor=bm90aGluZw')).status).toBe(422)
    })

    it('deletes a library with everything in it', async () => {
      const library = await context.newLibrary()
      const resource = await context.client.uploaded(library, { name: 'a.txt', content: 'soon gone' })
      const { status, text } = await context.client.call('DELETE', `/libraries/${library}`)
      expect({ status, text }).toEqual({ status: 204, text: '' })
      expect((await context.client.get(`/libraries/${library}`)).status).toBe(404)
      expect((await context.client.get(`/resources/${resource}`)).status).toBe(404)
      expect((await context.client.call('DELETE', `/libraries/${library}`)).status).toBe(404)
    })
  })
}

async function everyLibrary(client: ServiceClient, limit: number): Promise<string[]> {
  const seen: string[] = []
  let cursor: string | null = null
  do {
    const query: string = cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`
    const page = libraryPage.parse((await client.get(`/libraries?limit=${limit}${query}`)).json)
    expect(page.truncated).toBe(page.next_cursor !== null)
    expect(page.items.length).toBeLessThanOrEqual(limit)
    seen.push(...page.items.map(({ id }) => id))
    cursor = page.next_cursor
  } while (cursor !== null)
  return seen
}
