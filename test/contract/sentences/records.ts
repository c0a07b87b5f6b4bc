import assert from 'node:assert/strict'
import { z } from 'zod'
import { directoryNode, folderEntry, librarySummary } from '../../../src/contract/records.ts'
import { INBOX_PATH } from '../../../src/contract/routes.ts'
import { conforms, hasStatus, refuses } from '../suite/assert-answer.ts'
import { samplesOf } from '../suite/samples.ts'
import { assertion, type Sentence, sentence, unobservable } from '../suite/sentence.ts'

const identifier = z.string().min(1)

/** Section 2.1 to 2.9: identifiers, and the records of the tenant, libraries and directories. */
export const records: readonly Sentence[] = [
  sentence(
    '2.1 Libraries, resources, assets and nodes have identifiers that are opaque texts.',
    assertion('identifiers of libraries, resources and assets are texts', async (it) => {
      const { record } = await samplesOf(it).resource()
      conforms(identifier, record.id)
      for (const { id } of (await it.access()).libraries) conforms(identifier, id)
      for (const { id } of record.assets ?? []) conforms(identifier, id)
    }),
    assertion('identifiers of nodes are texts', async (it) => {
      const { json } = await it.makeDirectory(`${await it.directory()}/identified`)
      conforms(identifier, json.id)
    }),
  ),
  unobservable('2.1 Clients neither read anything in identifiers nor make them.', 'a rule for clients'),
  sentence(
    '2.1 Tenants and users have identifiers that are integers.',
    assertion('the identifiers of the tenant and of the user are integers', async (it) => {
      const { tenant, user } = await it.access()
      conforms(z.int(), tenant.id)
      if (user) conforms(z.int(), user.id)
    }),
  ),
  sentence(
    '2.2 The tenant has an identifier, a name and a slug.',
    assertion('the access context has a whole tenant', async (it) => {
      conforms(z.object({ id: z.int(), name: z.string(), slug: z.string() }), (await it.access()).tenant)
    }),
  ),
  sentence(
    '2.3 The user has an identifier, a name and an e-mail address, or is null as a whole.',
    assertion('the access context has a whole user or null', async (it) => {
      conforms(z.object({ id: z.int(), name: z.string(), email: z.email() }).nullable(), (await it.access()).user)
    }),
  ),
  unobservable('2.3 The user is the one who owns the grant.', 'nothing else that is shown names the owner'),
  sentence(
    '2.4 The summary of a library has its identifier, its name and the rights of this grant on it.',
    assertion('summaries in the access context and in the listing are whole', async (it) => {
      for (const library of (await it.access()).libraries) conforms(librarySummary, library)
      const { json } = await it.client().get('/libraries')
      conforms(z.array(librarySummary), json.items)
    }),
    assertion('the access context and the listing show the same rights', async (it) => {
      const id = await it.library()
      const { json } = await it.client().get('/auth/check')
      const { json: page } = await it.client().get('/libraries?limit=500')
      const inListing = conforms(z.array(librarySummary), page.items).find((each) => each.id === id)
      const inContext = conforms(z.array(librarySummary), json.libraries).find((each) => each.id === id)
      assert.ok(inListing && inContext, `the library ${id} is missing`)
      assert.deepEqual([...inListing.access].sort(), [...inContext.access].sort())
    }),
    assertion('a credential that may only read shows only that right', async (it) => {
      const { json } = await it.client('reader').get('/libraries?limit=500')
      const found = conforms(z.array(librarySummary), json.items)
      assert.ok(found.length > 0, 'the reader can read no library')
      for (const { access } of found) assert.deepEqual(access, ['read'])
    }),
  ),
  sentence(
    '2.5 A library has an identifier, a name, an overview or null, and the times of its creation and its last change.',
    assertion('a library is shown whole, its times as dates with a time of day', async (it) => {
      const { json } = await it.client().get(`/libraries/${await it.library()}`)
      conforms(libraryShape, json)
    }),
  ),
  sentence(
    '2.6 A listed folder has a name, an overview or null, and says whether it is locked and whether it is an archive.',
    assertion('listed folders are whole', async (it) => {
      if (it.target.mayWrite) await it.directory()
      const { folders } = await it.list(await it.library())
      conforms(z.array(folderEntry), folders)
      if (it.target.mayWrite) assert.ok(folders.length > 0, 'the root of a library with directories shows no folder')
    }),
  ),
  sentence(
    '2.7 A listed file has an identifier, a title, a slug, a virtual filename, a MIME type, and says whether it is locked.',
    assertion('the file just uploaded is listed whole', async (it) => {
      const { id, listed } = await samplesOf(it).text()
      assert.equal(conforms(strictFile, listed).id, id)
      assert.equal(listed?.mime_type, 'text/markdown')
    }),
  ),
  sentence(
    '2.7 The slug is fit for URLs and has no extension; the virtual filename is the slug with the extension.',
    assertion('slug and filename of the file just uploaded fit each other', async (it) => {
      const { listed } = await samplesOf(it).text()
      const { slug, filename } = conforms(strictFile, listed)
      assert.equal(encodeURIComponent(slug), slug)
      assert.equal(filename, `${slug}.md`)
    }),
    assertion('paths of the resource end in its virtual filename', async (it) => {
      const { library, id, listed } = await samplesOf(it).text()
      const { filename } = conforms(strictFile, listed)
      const { json } = await it.client().get(`/libraries/${library}/resources/${id}`)
      const ends = conforms(z.array(z.string()), json.paths).map((path) => path.slice(path.lastIndexOf('/') + 1))
      assert.ok(ends.includes(filename), `${filename} is not among ${ends.join(', ')}`)
    }),
  ),
  sentence(
    '2.8 A directory that was made has an identifier, a name, an overview or null, the identifier of its parent or null, and says whether it is locked and whether it is an archive.',
    assertion('directories in each other are answered whole, the inner one naming the outer one', async (it) => {
      const path = `${await it.directory()}/outer`
      const outer = conforms(directoryNode, (await it.makeDirectory(path)).json)
      const inner = conforms(directoryNode, (await it.makeDirectory(`${path}/inner`)).json)
      assert.deepEqual([outer.name, inner.name, inner.parent_id], ['outer', 'inner', outer.id])
    }),
  ),
  sentence(
    '2.9 A library path is absolute.',
    assertion('a path without a slash at its beginning is refused', async (it) => {
      refuses(await it.client().listing(await it.library(), { path: 'relative' }), 422)
    }),
  ),
  sentence(
    '2.9 Library paths distinguish upper and lower case.',
    assertion('the inbox is not found in capital letters', async (it) => {
      const library = await it.library()
      hasStatus(await it.client().listing(library, { path: INBOX_PATH }), 200)
      refuses(await it.client().listing(library, { path: INBOX_PATH.toUpperCase() }), 404)
    }),
  ),
  sentence(
    '2.9 Segments "." and ".." are not supported.',
    assertion('a path with a segment "." or ".." is refused', async (it) => {
      for (const path of ['/.', '/..', `/./${INBOX_PATH.slice(1)}`, `/x/..${INBOX_PATH}`]) {
        refuses(await it.client().listing(await it.library(), { path }), 422)
      }
    }),
  ),
  sentence(
    '2.9 Slashes at the end are ignored, but the root is a slash.',
    assertion('the inbox is the same with a slash at its end', async (it) => {
      const library = await it.library()
      assert.deepEqual(await it.list(library, { path: `${INBOX_PATH}/` }), await it.list(library, { path: INBOX_PATH }))
      assert.deepEqual(await it.list(library, { path: '/' }), await it.list(library))
    }),
  ),
]

const moment = z.iso.datetime({ offset: true })

export const libraryShape = z.looseObject({
  id: identifier,
  name: z.string(),
  overview: z.string().nullable(),
  created_at: moment,
  updated_at: moment,
})

const strictFile = z.looseObject({
  id: identifier,
  title: z.string().min(1),
  slug: z.string().min(1),
  filename: z.string().min(1),
  mime_type: z.string().min(1),
  organization_locked: z.boolean(),
})
