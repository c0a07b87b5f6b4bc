import assert from 'node:assert/strict'
import { INBOX_PATH } from '../../../src/contract/routes.ts'
import { ingestionOutcome } from '../../../src/contract/states.ts'
import { hasStatus, refuses, refusesSomehow } from '../suite/assert-answer.ts'
import { samplesOf, showResource } from '../suite/samples.ts'
import { assertion, type Sentence, sentence, unobservable } from '../suite/sentence.ts'

/** Section 4.12: uploads. */
export const uploads: readonly Sentence[] = [
  sentence(
    '4.12 A file is uploaded as the field "file" of a form, and lands in the inbox.',
    assertion('the inbox lists an uploaded file at once', async (it) => {
      const { listed, id, record } = await samplesOf(it).text()
      assert.ok(listed, `${id} is not in ${INBOX_PATH}, but in ${record.paths?.join(', ')}`)
    }),
    assertion('a form without the field "file" is refused', async (it) => {
      const form = new FormData()
      form.set('else', 'no file')
      const path = `/libraries/${await it.ownLibrary()}/files`
      refusesSomehow(await it.client().send(path, { method: 'POST', body: form }))
    }),
  ),
  sentence(
    '4.12 It needs the right to create resources.',
    assertion('a credential that may only read can upload nothing', async (it) => {
      const file = { name: `refused-${it.stamp}.txt`, content: `${it.stamp} refused` }
      refuses(await it.client('reader').upload(await it.ownLibrary(), file), 403)
    }),
  ),
  sentence(
    '4.12 New bytes become a new resource: 201 with its identifier.',
    assertion('the first upload of bytes gets 201 and an identifier', async (it) => {
      const { answer, id } = await samplesOf(it).text()
      hasStatus(answer, 201)
      assert.ok(id !== '' && answer.json.duplicate !== true)
    }),
    assertion('other bytes are another resource', async (it) => {
      const { library, id, name } = await samplesOf(it).text()
      const answer = await it.client().upload(library, { name, type: 'text/markdown', content: `other ${it.stamp}` })
      hasStatus(answer, 201)
      assert.notEqual(answer.json.id, id)
    }),
  ),
  sentence(
    '4.12 Bytes that the library has with this MIME type become no second resource: 200, a duplicate, with the identifier it has.',
    assertion('the same bytes under another name are a duplicate', async (it) => {
      const [{ id }, { answer }] = [await samplesOf(it).text(), await samplesOf(it).copy()]
      hasStatus(answer, 200)
      assert.deepEqual([answer.json.duplicate, answer.json.id], [true, id])
    }),
    assertion('the same bytes with another MIME type are a new resource', async (it) => {
      const { library, id, name, content } = await samplesOf(it).text()
      const answer = await it.client().upload(library, { name, type: 'text/plain', content })
      hasStatus(answer, 201)
      assert.notEqual(answer.json.id, id)
    }),
    assertion('the same bytes in another library are a new resource', async (it) => {
      const { id, name, content } = await samplesOf(it).text()
      const other = await it.makeLibrary('copies')
      const answer = await it.client().upload(other.id, { name, type: 'text/markdown', content })
      hasStatus(answer, 201)
      assert.notEqual(answer.json.id, id)
    }),
  ),
  sentence(
    '4.12 A duplicate gives the resource one more place in the folder tree.',
    assertion('a duplicate gives its resource one more path', async (it) => {
      const before = (await samplesOf(it).text()).record.paths ?? []
      const after = (await samplesOf(it).copy()).record.paths ?? []
      assert.equal(after.length, before.length + 1)
      for (const path of before) assert.ok(after.includes(path), `${path} is gone`)
    }),
    assertion('a duplicate of the same name gives one more path', async (it) => {
      const { library, id, name, content } = await samplesOf(it).text()
      const before = (await samplesOf(it).copy()).record.paths ?? []
      const answer = await it.client().upload(library, { name, type: 'text/markdown', content })
      hasStatus(answer, 200)
      assert.equal((await showResource(it, library, id)).paths?.length, before.length + 1)
    }),
  ),
  sentence(
    '4.12 An upload starts processing.',
    assertion('the processing of the new resource comes to an end', async (it) => {
      const { record } = await samplesOf(it).text()
      assert.notEqual(ingestionOutcome(record.ingestion_status), 'pending')
    }),
  ),
  unobservable('4.12 Processing can use up credits of a provider.', 'no call shows credits'),
  unobservable(
    '4.12 Further fields of the form and of the answer, and the errors, are left open.',
    'nothing is described',
  ),
]
