/** Fuzzes answers by structure: the client throws only errors of our family, with bounded messages. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { ShelfdError } from '../../src/foundation/errors.ts'
import { escapeText } from '../../src/foundation/text/safe-text.ts'
import type { ServiceClient } from '../../src/remote/service-client.ts'
import { fuzzing, jsonText, oddString, spoiled } from '../support/fuzzing.ts'
import { clientOf, clientOn, collect, EMPTY_PAGE, HELLO, jumpingClock, serve, uploadOf } from './support.ts'

const LIBRARY = { id: 'l1', name: 'Research', overview: null, created_at: '2030-01-01', updated_at: '2030-01-01' }
const NODE = { id: 'n1', name: 'b', overview: null, parent_id: null, organization_locked: false, is_archive: false }
const FOLDER = { name: 'b', overview: null, organization_locked: false, is_archive: false }
const FILE = {
  id: 'r1',
  title: 'a',
  slug: 'a',
  filename: 'a.md',
  mime_type: 'text/markdown',
  organization_locked: false,
}
const RESOURCE = { id: 'r1', title: 'a', paths: ['/a'], assets: [{ id: 'x' }], ingestion_status: 'running' }
const ACCESS = {
  tenant: { id: 1, name: 't', slug: 't' },
  user: { id: 1, name: 'u', email: 'u@example.com' },
  grant_type: 'access_token',
  interfaces: ['api'],
  abilities: [],
  libraries: [{ id: 'l1', name: 'Research', access: ['read'] }],
}
const VIEW = { url: 'https://example.com/x', representation: 'content', expires_in_minutes: 15 }

const DESCRIPTION = {
  openapi: '3.1.0',
  info: { title: 'KLS', version: '0.9.0' },
  paths: {
    '/v1/libraries/{library}/directory': {
      post: {
        requestBody: {
          content: {
            'application/json': {
              schema: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] },
            },
          },
        },
      },
    },
  },
}

const REFUSAL = { message: 'no', detail: 'not this one', errors: { file: ['too odd'] } }

interface Operation {
  readonly status: number
  /** A good answer. */
  readonly good: unknown
  readonly call: (client: ServiceClient) => Promise<unknown>
}

const bytesOf = async (download: Promise<{ readonly body: AsyncIterable<Uint8Array> }>) =>
  collect((await download).body)

const OPERATIONS: Readonly<Record<string, Operation>> = {
  checkAccess: { status: 200, good: ACCESS, call: (client) => client.checkAccess() },
  listLibraries: {
    status: 200,
    good: { items: ACCESS.libraries, limit: 500, next_cursor: null, truncated: false },
    call: (client) => collect(client.listLibraries()),
  },
  createLibrary: { status: 201, good: LIBRARY, call: (client) => client.createLibrary('Research', null) },
  showLibrary: { status: 200, good: LIBRARY, call: (client) => client.showLibrary('l1') },
  deleteLibrary: { status: 204, good: undefined, call: (client) => client.deleteLibrary('l1') },
  listDirectory: {
    status: 200,
    good: { ...EMPTY_PAGE, folders: [FOLDER], files: [FILE] },
    call: (client) => collect(client.listDirectory('l1', '/a')),
  },
  createDirectory: { status: 201, good: NODE, call: (client) => client.createDirectory('l1', '/b') },
  uploadFile: {
    status: 201,
    good: { id: 'r1', duplicate: false },
    call: (client) => client.uploadFile(uploadOf(HELLO)),
  },
  showResource: { status: 200, good: RESOURCE, call: (client) => client.showResource('l1', 'r1') },
  pollResource: { status: 200, good: RESOURCE, call: (client) => client.pollResource('l1', 'r1') },
  searchResources: {
    status: 200,
    good: { notice: 'n', results: [{ resource: RESOURCE }] },
    call: (client) => client.searchResources({ query: 'q' }),
  },
  downloadResource: { status: 200, good: 'bytes', call: (client) => bytesOf(client.downloadResource('r1')) },
  downloadAsset: { status: 200, good: 'bytes', call: (client) => bytesOf(client.downloadAsset('x')) },
  createResourceViewUrl: { status: 200, good: VIEW, call: (client) => client.createResourceViewUrl('r1', {}) },
  createAssetViewUrl: { status: 200, good: VIEW, call: (client) => client.createAssetViewUrl('x', {}) },
  contractFacts: { status: 200, good: DESCRIPTION, call: (client) => client.capabilities() },
  callRaw: { status: 200, good: {}, call: (client) => client.callRaw('GET', '/v1/libraries', undefined) },
}

const status = fc.constantFrom(
  200,
  201,
  202,
  204,
  206,
  299,
  302,
  308,
  400,
  401,
  403,
  404,
  409,
  413,
  422,
  429,
  499,
  500,
  503,
  599,
)
const headers = fc.dictionary(
  fc.constantFrom('content-type', 'content-encoding', 'retry-after', 'location', 'content-disposition', 'x-odd'),
  fc.oneof(
    fc.constantFrom(
      'text/html',
      'application/json',
      'gzip',
      'br',
      'identity',
      '-1',
      '1',
      '99999999999999999999',
      'Fri, 31 Dec 9999 23:59:59 GMT',
    ),
    fc.string({ maxLength: 12 }).map((text) => text.replace(/[^!-~]/g, '')),
  ),
  { maxKeys: 2 },
)

/** Bodies with JSON like `good` or like a refusal; sometimes cut, sometimes any text. */
function bodyOf(good: unknown): fc.Arbitrary<string> {
  const json = fc.oneof(spoiled(good), spoiled(REFUSAL)).map(jsonText)
  return fc.oneof(
    { weight: 6, arbitrary: json },
    { weight: 1, arbitrary: json.map((text) => text.slice(0, text.length >> 1)) },
    { weight: 1, arbitrary: oddString },
  )
}

test.each(Object.entries(OPERATIONS))(
  '%s throws only errors of our family',
  async (_, { status: usual, good, call }) => {
    let answer = { status: usual, headers: {}, body: '' }
    let asked = 0
    await using server = await serve((request, response) => {
      asked += 1
      request.resume().on('end', () => response.writeHead(answer.status, answer.headers).end(answer.body))
    })
    const options = { retry: { attempts: 2, firstDelayMs: 1, maxDelayMs: 1, forMs: 1_000 } }
    await fc.assert(
      fc.asyncProperty(fc.oneof(fc.constant(usual), status), headers, bodyOf(good), async (code, odd, body) => {
        answer = { status: code, headers: odd, body }
        asked = 0
        // Each answer has its own client, because an answer may open the circuit breaker.
        await using client = clientOf(server.origin, { ...options, clock: jumpingClock() })
        try {
          await call(client)
        } catch (error) {
          if (!(error instanceof ShelfdError)) throw error
          expect(error.message.length).toBeLessThan(4_000)
          expect(escapeText(error.message)).toBe(error.message)
        }
        expect(asked).toBeLessThanOrEqual(6)
      }),
      fuzzing(40),
    )
  },
)

test('a refusal with odd fields is an error of our family', async () => {
  let answer = { status: 422, body: '' }
  await using client = await clientOn(
    { retry: { attempts: 1, firstDelayMs: 1, maxDelayMs: 1 } },
    (_, response) => void response.writeHead(answer.status).end(answer.body),
  )
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(400, 404, 409, 422), spoiled(REFUSAL).map(jsonText), async (code, body) => {
      answer = { status: code, body }
      await expect(client.showLibrary('l1')).rejects.toBeInstanceOf(ShelfdError)
    }),
    fuzzing(500),
  )
})

test('an odd library leaves the access to the others', async () => {
  const odd = [{ id: 'x'.repeat(600), name: 'a', access: [] }, { id: 'l2', name: null, access: [] }, { id: 'l3' }, null]
  const answer = JSON.stringify({ ...ACCESS, libraries: [...odd, ...ACCESS.libraries] })
  await using client = await clientOn({}, (_, response) => void response.writeHead(200).end(answer))
  expect((await client.checkAccess()).libraries).toEqual(ACCESS.libraries)
})
