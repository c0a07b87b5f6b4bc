import assert from 'node:assert/strict'
import { z } from 'zod'
import { directoryNode } from '../../../src/contract/records.ts'
import { INBOX_PATH } from '../../../src/contract/routes.ts'
import { conforms, hasStatus, refuses } from '../suite/assert-answer.ts'
import { type Examination, NO_SUCH_THING } from '../suite/examination.ts'
import { assertion, NotObserved, type Sentence, sentence, unobservable } from '../suite/sentence.ts'

const MAX_PAGES = 30

/** Sections 4.10 and 4.11: directories. */
export const directories: readonly Sentence[] = [
  sentence(
    '4.10 The immediate children of a path are listed, of the root by default.',
    assertion('a new directory is listed in its parent alone', async (it) => {
      const [library, parent] = [await it.ownLibrary(), await it.directory()]
      hasStatus(await it.makeDirectory(`${parent}/child`), 201)
      const namesIn = async (path: string) =>
        (await it.list(library, { path, limit: '500' })).folders.map(({ name }) => name)
      assert.ok((await namesIn(parent)).includes('child'))
      assert.ok(!(await namesIn('/')).includes('child'))
    }),
    assertion('a listing without a path is that of the root', async (it) => {
      const library = await it.library()
      assert.deepEqual(await it.list(library), await it.list(library, { path: '/' }))
    }),
    assertion('a listing has all of its fields', async (it) => {
      const { json } = await it.client().listing(await it.library())
      conforms(pageShape, json)
    }),
  ),
  sentence(
    '4.10 A page has 100 entries of each section, folders and files, unless asked for 1 to 500.',
    assertion('the limit of a listing is 100 or as asked for within the bounds', async (it) => {
      const library = await it.library()
      assert.equal((await it.list(library)).limit, 100)
      for (const limit of [1, 7, 500]) assert.equal((await it.list(library, { limit: String(limit) })).limit, limit)
    }),
    assertion('a limit of a listing beyond the bounds is refused', async (it) => {
      for (const limit of ['0', '501', 'many']) {
        refuses(await it.client().listing(await it.library(), { limit }), 422)
      }
    }),
    assertion('each section has as many entries as the limit allows', async (it) => {
      const { library, path } = await mixedDirectory(it)
      const { folders, files } = await it.list(library, { path, limit: '1' })
      assert.deepEqual([folders.length, files.length], [1, 1])
    }),
  ),
  sentence(
    '4.10 Each section is sorted by name, ascending.',
    assertion('folders are sorted by name, in any order of creation', async (it) => {
      const { library, path } = await foldersOf(it)
      const { folders } = await it.list(library, { path })
      assert.deepEqual(
        folders.map(({ name }) => name),
        ['alpha', 'beta', 'gamma', 'omega'],
      )
    }),
    assertion('files are sorted by name, in any order of upload', async (it) => {
      const { library, path } = await mixedDirectory(it)
      const names = (await it.list(library, { path })).files.map(({ filename }) => filename)
      assert.deepEqual(names, [...names].sort())
      assert.equal(names.length, 3)
    }),
  ),
  sentence(
    '4.10 The cursor continues both sections, or the one that has more when the other has ended.',
    assertion('all pages together have each folder once and in order', async (it) => {
      const { library, path } = await foldersOf(it)
      assert.deepEqual((await walk(it, library, path, 1)).folders, ['alpha', 'beta', 'gamma', 'omega'])
      assert.deepEqual((await walk(it, library, path, 3)).folders, ['alpha', 'beta', 'gamma', 'omega'])
    }),
    assertion('all pages together have folders and files once each', async (it) => {
      const { library, path } = await mixedDirectory(it)
      const whole = await it.list(library, { path })
      for (const limit of [1, 2]) {
        const { folders, files } = await walk(it, library, path, limit)
        assert.deepEqual(
          folders,
          whole.folders.map(({ name }) => name),
        )
        assert.deepEqual(
          files,
          whole.files.map(({ filename }) => filename),
        )
      }
    }),
    assertion('all pages of the root have no entry twice', async (it) => {
      const { folders, files } = await walk(it, await it.library(), '/', 1)
      assert.equal(new Set(folders).size, folders.length)
      assert.equal(new Set(files).size, files.length)
    }),
  ),
  sentence(
    '4.10 Unknown libraries and paths are not found, malformed paths are refused.',
    assertion('unknown libraries and paths get 404, malformed paths 422', async (it) => {
      refuses(await it.client().listing(NO_SUCH_THING), 404)
      refuses(await it.client().listing(await it.library(), { path: `/${NO_SUCH_THING}` }), 404)
      refuses(await it.client().listing(await it.library(), { path: 'no/slash' }), 422)
    }),
    assertion('a listing is forbidden without the right to read', async (it) => {
      refuses(await it.client('steward').listing(await it.library()), 403)
    }),
  ),
  sentence(
    '4.11 A directory is made at a path: 201, its node, and the relative URL that lists it.',
    assertion('the URL of a new directory lists it, empty', async (it) => {
      const answer = await it.makeDirectory(`${await it.directory()}/located`)
      hasStatus(answer, 201)
      assert.equal(conforms(directoryNode, answer.json).name, 'located')
      const location = answer.headers.get('location') ?? ''
      assert.ok(location !== '' && !URL.canParse(location), `Location "${location}" is not relative`)
      const headers = { authorization: `Bearer ${it.target.tokens.owner}` }
      const shown = await it.fetch(new URL(location, `${it.target.url}/api/v1/`).href, { headers })
      hasStatus({ status: shown.status }, 200)
      const { folders, files } = conforms(pageShape, await shown.json())
      assert.deepEqual([folders, files], [[], []])
    }),
    assertion('a directory with a malformed path or an unknown library is refused', async (it) => {
      refuses(await it.makeDirectory('no/slash'), 422)
      refuses(await it.makeDirectory('/x', 'owner', NO_SUCH_THING), 404)
    }),
  ),
  sentence(
    '4.11 It needs the right to update the library.',
    assertion('a credential that may only read can make no directory', async (it) => {
      refuses(await it.makeDirectory(`${await it.directory()}/refused`, 'reader'), 403)
    }),
  ),
  unobservable(
    '4.11 The fields of the request are left open.',
    'nothing is described; they are taken from the description',
  ),
  unobservable('4.11 A conflict is answered with 409.', 'what is a conflict is not described'),
  sentence(
    '4.12 Each library has an inbox.',
    assertion('the inbox of a library can be listed', async (it) => {
      await it.list(await it.library(), { path: INBOX_PATH })
    }),
  ),
]

const pageShape = z.looseObject({
  folders: z.array(z.looseObject({ name: z.string() })),
  files: z.array(z.looseObject({ id: z.string(), filename: z.string() })),
  limit: z.int(),
  next_cursor: z.string().nullable(),
  truncated: z.boolean(),
})

/** A directory of four directories that were not created in their order. */
async function foldersOf(it: Examination): Promise<{ library: string; path: string }> {
  const path = `${await it.directory()}/sorted`
  const { status } = await it.makeDirectory(path)
  if (status === 201) for (const name of ['gamma', 'alpha', 'omega', 'beta']) await it.makeDirectory(`${path}/${name}`)
  return { library: await it.ownLibrary(), path }
}

/** A directory of two directories and three files; needs a field of the upload that names a directory. */
async function mixedDirectory(it: Examination): Promise<{ library: string; path: string }> {
  const { field } = (await it.capabilities()).uploadDirectoryField
  if (field === undefined) throw new NotObserved('the service takes no directory for an upload')
  const [library, path] = [await it.ownLibrary(), `${await it.directory()}/mixed`]
  const { status } = await it.makeDirectory(path)
  if (status !== 201) return { library, path }
  for (const name of ['one', 'two']) await it.makeDirectory(`${path}/${name}`)
  for (const name of ['c.txt', 'a.txt', 'b.txt']) {
    const form = new FormData()
    form.set(field, path)
    form.set('file', new File([`${name} ${it.stamp}`], name, { type: 'text/plain' }))
    hasStatus(await it.client().send(`/libraries/${library}/files`, { method: 'POST', body: form }), 201)
  }
  return { library, path }
}

async function walk(it: Examination, library: string, path: string, limit: number) {
  const seen = { folders: [] as string[], files: [] as string[] }
  let query: Record<string, string> = { path, limit: String(limit) }
  for (let pages = 0; pages < MAX_PAGES; pages += 1) {
    const { folders, files, next_cursor: cursor, truncated } = await it.list(library, query)
    assert.ok(folders.length <= limit && files.length <= limit, 'a section is longer than the limit')
    assert.equal(truncated, cursor !== null)
    seen.folders.push(...folders.map(({ name }) => name))
    seen.files.push(...files.map(({ filename }) => filename))
    if (cursor === null) return seen
    query = { path, limit: String(limit), cursor }
  }
  return seen
}
