import assert from 'node:assert/strict'
import { z } from 'zod'
import { libraryPage } from '../../../src/contract/records.ts'
import { conforms, hasStatus, refuses } from '../suite/assert-answer.ts'
import { type Examination, NO_SUCH_THING } from '../suite/examination.ts'
import { showResource } from '../suite/samples.ts'
import { assertion, type Sentence, sentence, unobservable } from '../suite/sentence.ts'
import { libraryShape } from './records.ts'

/** The number of pages of one library each that are read; a tenant may have thousands. */
const MAX_PAGES = 20

/** Sections 2.14 and 4.6 to 4.9: libraries, and pages of them. */
export const libraries: readonly Sentence[] = [
  sentence(
    '2.14 A page has its limit, the cursor of the next one or null, and says whether it was cut: exactly when there is a cursor.',
    assertion('a page of libraries is truncated exactly when it has a cursor', async (it) => {
      for (const limit of [1, 500]) await page(it, { limit: String(limit) })
    }),
    assertion('a page of a directory is truncated exactly when it has a cursor', async (it) => {
      const library = await it.library()
      for (const limit of ['1', '500']) {
        const { next_cursor: cursor, truncated } = await it.list(library, { limit })
        assert.equal(truncated, cursor !== null)
      }
    }),
  ),
  sentence(
    '4.6 The libraries that may be read are listed, each with its rights.',
    assertion('the listing has the library that is read', async (it) => {
      const found = await everyLibrary(it)
      if (found) assert.ok(found.includes(await it.library()), 'it is missing')
      for (const { access } of (await page(it, {})).items) assert.ok(access.includes('read'), `a library has ${access}`)
    }),
    assertion('the listing has no library that may not be read', async (it) => {
      const { json } = await it.client('steward').get('/libraries')
      assert.deepEqual(conforms(libraryPage, json).items, [])
    }),
  ),
  sentence(
    '4.6 A page has 50 libraries unless asked for 1 to 500.',
    assertion('the limit of libraries is 50 or as asked for within the bounds', async (it) => {
      assert.equal((await page(it, {})).limit, 50)
      for (const limit of [1, 7, 500]) {
        const { items, limit: found } = await page(it, { limit: String(limit) })
        assert.equal(found, limit)
        assert.ok(items.length <= limit, `${items.length} libraries on a page of ${limit}`)
      }
    }),
    assertion('a page size of libraries beyond the bounds is refused', async (it) => {
      for (const limit of ['0', '501', '-1']) {
        const answer = await it.client().get(`/libraries?limit=${limit}`)
        if (answer.status !== 200) refuses(answer, 422, 400)
        else conforms(z.int().min(1).max(500), answer.json.limit)
      }
    }),
  ),
  sentence(
    '4.6 The cursor of a page leads to the next one.',
    assertion('all pages of libraries have no library twice', async (it) => {
      if (it.target.mayWrite) await Promise.all([it.makeLibrary('first'), it.makeLibrary('second')])
      const seen: string[] = []
      let cursor: string | null = ''
      for (let pages = 0; cursor !== null && pages < MAX_PAGES; pages += 1) {
        const { items, next_cursor: next } = await page(it, { limit: '1', ...(cursor === '' ? {} : { cursor }) })
        seen.push(...items.map(({ id }) => id))
        cursor = next
      }
      assert.equal(new Set(seen).size, seen.length)
      if (it.target.mayWrite) assert.ok(seen.length > 1, 'only one library came')
    }),
  ),
  unobservable('4.6 The order of libraries is left open.', 'nothing is described'),
  sentence(
    '4.7 A library is made in the tenant: 201, its record, and its absolute URL, which needs a credential.',
    assertion('a new library is answered with 201, its record and its URL', async (it) => {
      const { id, name, answer } = await it.makeLibrary('created')
      hasStatus(answer, 201)
      assert.equal(conforms(libraryShape, answer.json).name, name)
      const location = answer.headers.get('location') ?? ''
      assert.ok(URL.canParse(location), `Location "${location}" is not absolute`)
      assert.equal(new URL(location).origin, new URL(it.target.url).origin)
      refuses(await it.open(location), 401)
      const headers = { authorization: `Bearer ${it.target.tokens.owner}` }
      assert.equal(z.looseObject({ id: z.string() }).parse(await (await it.fetch(location, { headers })).json()).id, id)
    }),
    assertion('a library with an invalid body is refused', async (it) => {
      for (const body of [{}, { name: { not: 'a text' } }]) {
        refuses(await it.client().call('POST', '/libraries', body), 422)
      }
    }),
  ),
  sentence(
    '4.7 It needs the ability to create libraries.',
    assertion('a credential that may only read can create no library', async (it) => {
      refuses(
        await it.client('reader').call('POST', '/libraries', { name: `shelfd contract ${it.stamp} refused` }),
        403,
      )
    }),
  ),
  sentence(
    '4.7 Who creates a library has no access to it by that.',
    assertion('a credential without further rights cannot see the library it made', async (it) => {
      const { id } = await it.makeLibrary('unseen', 'steward')
      refuses(await it.client('steward').get(`/libraries/${id}`), 403)
      const { json } = await it.client('steward').get('/libraries')
      assert.deepEqual(conforms(libraryPage, json).items, [])
    }),
  ),
  unobservable(
    '4.7 The fields of the request are left open.',
    'nothing is described; they are taken from the description',
  ),
  sentence(
    '4.8 A library is shown to those who can read it.',
    assertion('the record of a library is whole', async (it) => {
      const answer = await it.client().get(`/libraries/${await it.library()}`)
      hasStatus(answer, 200)
      assert.equal(conforms(libraryShape, answer.json).id, await it.library())
    }),
    assertion('an unknown library is not shown', async (it) => {
      refuses(await it.client().get(`/libraries/${NO_SUCH_THING}`), 404)
    }),
    assertion('a library is forbidden without the right to read it', async (it) => {
      refuses(await it.client('steward').get(`/libraries/${await it.library()}`), 403)
    }),
  ),
  sentence(
    '4.9 A library is deleted with all of its resources: 204, without a body.',
    assertion('a deleted library and its resource are not found', async (it) => {
      const { id } = await it.makeLibrary('deleted')
      const file = { name: `gone-${it.stamp}.txt`, content: `${it.stamp} is soon gone` }
      const resource = await it.client().uploaded(id, file)
      await showResource(it, id, resource)
      const answer = await it.deleteLibrary(id)
      hasStatus(answer, 204)
      assert.equal(answer.text, '')
      for (const path of [`/libraries/${id}`, `/libraries/${id}/resources/${resource}`, `/resources/${resource}`]) {
        refuses(await it.client().get(path), 404)
      }
    }),
    assertion('an unknown library is not deleted', async (it) => {
      refuses(await it.client().call('DELETE', `/libraries/${NO_SUCH_THING}`), 404)
    }),
  ),
  sentence(
    '4.9 The ability to delete libraries is needed and is enough.',
    assertion('a credential that may only read can delete no library', async (it) => {
      const { id } = await it.makeLibrary('kept')
      refuses(await it.deleteLibrary(id, 'reader'), 403)
      hasStatus(await it.client().get(`/libraries/${id}`), 200)
    }),
    assertion('the ability to delete alone deletes an unreadable library', async (it) => {
      const { id } = await it.makeLibrary('closed', 'steward')
      hasStatus(await it.deleteLibrary(id, 'steward'), 204)
    }),
  ),
]

async function page(it: Examination, query: Readonly<Record<string, string>>) {
  const answer = await it.client().get(`/libraries?${new URLSearchParams(query)}`)
  hasStatus(answer, 200)
  const found = conforms(libraryPage, answer.json)
  assert.equal(found.truncated, found.next_cursor !== null)
  return found
}

/** The identifiers of all libraries; undefined when there are more than MAX_PAGES full pages. */
async function everyLibrary(it: Examination): Promise<string[] | undefined> {
  const seen: string[] = []
  let query: Record<string, string> = { limit: '500' }
  for (let pages = 0; pages < MAX_PAGES; pages += 1) {
    const { items, next_cursor: cursor } = await page(it, query)
    seen.push(...items.map(({ id }) => id))
    if (cursor === null) return seen
    query = { limit: '500', cursor }
  }
  return undefined
}
