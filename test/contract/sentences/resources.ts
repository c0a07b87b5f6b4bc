import assert from 'node:assert/strict'
import { z } from 'zod'
import { INGESTION_STATUSES, ingestionOutcome } from '../../../src/contract/states.ts'
import { conforms, hasStatus, isPicture, refuses } from '../suite/assert-answer.ts'
import { NO_SUCH_THING } from '../suite/examination.ts'
import { samplesOf } from '../suite/samples.ts'
import { assertion, type Sentence, sentence, unobservable } from '../suite/sentence.ts'

const status = z.enum(INGESTION_STATUSES)

/** Section 2.10, 2.11, 3, 4.13 and 4.15: resources, their assets and their processing. */
export const resources: readonly Sentence[] = [
  sentence(
    '2.10 A resource has an identifier, a title, its library, its paths, its assets, an abstract and the state of its processing.',
    assertion('a resource is shown with its whole record', async (it) => {
      const { library, record } = await samplesOf(it).resource()
      const { json } = await it.client().get(`/libraries/${library}/resources/${record.id}`)
      conforms(resourceShape, json)
      assert.equal(json.id, record.id)
    }),
  ),
  sentence(
    '2.10 A resource can be at several places of the folder tree.',
    assertion('a file that was uploaded twice is shown at two places', async (it) => {
      const { record } = await samplesOf(it).copy()
      assert.equal(record.paths?.length, 2)
    }),
  ),
  sentence(
    '2.11 An asset is a piece of the content of a resource, such as an excerpt of its text.',
    assertion('a text has an asset that holds words of it', async (it) => {
      const { record } = await samplesOf(it).text()
      const texts = (record.assets ?? []).map(({ text }) => text ?? '')
      assert.ok(
        texts.some((text) => text.includes(it.stamp)),
        `no asset of ${JSON.stringify(texts)} holds ${it.stamp}`,
      )
    }),
  ),
  unobservable(
    '2.11 Texts of assets can hold Markdown and traces to pages, regions or times of the source.',
    'they can and need not; the shape of a trace is not described',
  ),
  unobservable('2.11 Not each hit has a text or a page.', 'says what may be missing'),
  sentence(
    '2.11 The whole payload of an asset can be downloaded.',
    assertion('the payload of an asset comes whole and is not empty', async (it) => {
      const answer = await it.client().get(`/assets/${await samplesOf(it).asset()}`)
      hasStatus(answer, 200)
      assert.ok(answer.text.length > 0, 'the payload is empty')
    }),
  ),
  sentence(
    '2.11 Video assets have derived pictures.',
    assertion('a video asset has a frame and a collage', async (it) => {
      const asset = await samplesOf(it).video()
      for (const kind of ['frame', 'scene']) {
        isPicture(await it.client().get(`/assets/${asset}/representations/${kind}?timestamp_seconds=1`))
      }
    }),
  ),
  sentence(
    '3.1 Processing is not started, running, completed, completed with warnings, partial or failed.',
    assertion('only the named states are seen while a file is processed', async (it) => {
      const { states } = await samplesOf(it).text()
      conforms(z.array(status).min(1), states)
    }),
    assertion('the state of a resource is one of those named', async (it) => {
      conforms(status, (await samplesOf(it).resource()).record.ingestion_status)
    }),
  ),
  sentence(
    '3.1 A resource whose processing is completed, with warnings or without, can be found.',
    assertion('a processed text is found by its words', async (it) => {
      const { record, id, library } = await samplesOf(it).text()
      assert.equal(ingestionOutcome(record.ingestion_status), 'searchable')
      const query = new URLSearchParams({ query: it.stamp, 'library_ids[]': library })
      const { text } = await it.client().get(`/search/resources?${query}`)
      assert.ok(text.includes(id), `${id} is not among the results: ${text.slice(0, 200)}`)
    }),
  ),
  unobservable(
    '3.1 Partial processing ended incompletely; an operator looks at it.',
    'which file ends so is up to the service',
  ),
  unobservable(
    '3.1 Failed processing ended without a result; an operator looks at it.',
    'which file ends so is up to the service',
  ),
  unobservable('3.1 Clients poll again while processing is pending, and stop at a final state.', 'a rule for clients'),
  unobservable('3.1 Clients take any other state for an error.', 'a rule for clients'),
  unobservable('3.1 An upload that was answered well is not yet searchable.', 'says what may not be relied on'),
  unobservable(
    '3.1 When polling takes too long, clients keep the identifier and do not upload again.',
    'a rule for clients',
  ),
  unobservable(
    '3.2 Questions to a resource are jobs with states of their own.',
    'neither paths nor states are described',
  ),
  sentence(
    '4.13 A resource is shown below its library, with the state of its processing.',
    assertion('a resource names its state and the library above it', async (it) => {
      const { library, record } = await samplesOf(it).resource()
      const answer = await it.client().get(`/libraries/${library}/resources/${record.id}`)
      hasStatus(answer, 200)
      conforms(status, answer.json.ingestion_status)
      assert.ok(JSON.stringify(answer.json.library).includes(library))
    }),
    assertion('an unknown resource is not found', async (it) => {
      refuses(await it.client().get(`/libraries/${await it.library()}/resources/${NO_SUCH_THING}`), 404)
    }),
    assertion('a resource is not found below another library', async (it) => {
      const { id } = await samplesOf(it).text()
      const other = await it.makeLibrary('other')
      refuses(await it.client().get(`/libraries/${other.id}/resources/${id}`), 403, 404)
    }),
  ),
  sentence(
    '4.13 Polling leads to a final state.',
    assertion('a final state of processing does not change', async (it) => {
      const { library, id, record } = await samplesOf(it).text()
      const { json } = await it.client().get(`/libraries/${library}/resources/${id}`)
      assert.equal(json.ingestion_status, record.ingestion_status)
    }),
  ),
  sentence(
    '4.15 The original file can be downloaded with a bearer credential.',
    assertion('a download has the bytes that were uploaded', async (it) => {
      const { id, content } = await samplesOf(it).text()
      const answer = await it.client().get(`/resources/${id}`)
      hasStatus(answer, 200)
      assert.equal(answer.text, content)
    }),
    assertion('a download of an existing file has bytes', async (it) => {
      const { record } = await samplesOf(it).resource()
      const { status: found, body } = await it.client().fetch(`/resources/${record.id}`, { method: 'GET' })
      await body?.cancel()
      hasStatus({ status: found }, 200)
      assert.ok(body, 'there is no body')
    }),
    assertion('a download without a credential is refused', async (it) => {
      const { record } = await samplesOf(it).resource()
      refuses(await it.clientWith('').get(`/resources/${record.id}`), 401)
    }),
  ),
  unobservable('4.15 The shape and the errors of the download are left open.', 'nothing is described'),
  unobservable(
    '4.17 Pages, page regions, assets in resources, questions, searches in notes and nodes, the knowledge graph, the tree and the tools for agents.',
    'they are named without paths, parameters or payloads',
  ),
]

const resourceShape = z.looseObject({
  id: z.string().min(1),
  title: z.string(),
  library: z.unknown().refine((library) => library !== undefined && library !== null, 'must be there'),
  paths: z.array(z.string().startsWith('/')),
  assets: z.array(z.looseObject({ id: z.string().min(1) })),
  abstract: z.string().nullable(),
  ingestion_status: status,
})
