import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { API_PREFIX, ROUTES, type RouteName } from '../../../src/contract/routes.ts'
import { fuzzing } from '../../support/fuzz.ts'
import { startLibrary } from '../temporary-library.ts'

const ROUTE_NAMES = Object.keys(ROUTES).filter((name): name is RouteName => name in ROUTES)
/** Every status of the interface, HTTP and docs/embedded-library.md but those for failures of the service. */
const ANSWERS = [
  200, 201, 204, 206, 304, 400, 401, 403, 404, 405, 408, 409, 413, 414, 415, 416, 417, 421, 422, 431, 501,
]
const QUERY_KEYS = [
  ...[
    'path',
    'limit',
    'cursor',
    'query',
    'library_ids[]',
    'library_ids',
    'library_ids[0]',
    'strategy',
    'output_format',
  ],
  ...['disposition', 'signature', 'expires', 'tenant_id', 'timestamp_seconds', '__proto__', ''],
]
const WORDS = [
  ...[
    '',
    '0',
    '-1',
    '1',
    '500',
    '1e3',
    '99999999999999999999',
    'NaN',
    'null',
    'true',
    '/',
    '/.inbox',
    '/a/../b',
    '//',
    'é/%',
  ],
  ...[
    'lexical',
    'balanced',
    'compact',
    'inline',
    'attachment',
    'zebra',
    '"',
    '"a" AND',
    'NEAR(',
    '*',
    '\0',
    '\ud800',
    '%ff',
  ],
  ...['x'.repeat(3_000), '/'.repeat(500), '漢'.repeat(400), '<script>', '../../etc/passwd', '__proto__', 'constructor'],
]

const word = fc.oneof(
  fc.constantFrom(...WORDS),
  fc.string({ maxLength: 30 }),
  fc.string({ unit: 'binary', maxLength: 12 }),
)
/** A text on the wire: encoded, hardly encoded, or impossible to decode. */
const encoded = fc.oneof(
  word.map((text) => encodeURIComponent(text.toWellFormed())),
  word.map((text) => Buffer.from(text.replace(/[\s\0]/g, '_')).toString('latin1')),
  fc.constantFrom('%', '%2', '%zz', '%ff%fe', '%00', '+', '&&', '=', '#', '..', '%2e%2e', '%2f'),
)
const queryString = fc
  .array(fc.tuple(fc.oneof(fc.constantFrom(...QUERY_KEYS), encoded), encoded), { maxLength: 4 })
  .map((pairs) => pairs.map(([key, value]) => `${key}=${value}`).join('&'))
const wordQuery = word.map((text) => `query=${encodeURIComponent(text.toWellFormed())}&strategy=lexical`)

const jsonBody = fc.oneof(
  fc.json({ maxDepth: 4 }),
  fc.record({ name: word, path: word }).map((value) => JSON.stringify(value)),
  fc
    .dictionary(
      fc.constantFrom(
        'name',
        'overview',
        'path',
        'ttl_minutes',
        'disposition',
        'representation',
        'timestamp_seconds',
        '__proto__',
      ),
      fc.oneof(
        word,
        fc.integer(),
        fc.double(),
        fc.constant(null),
        fc.boolean(),
        fc.array(fc.integer(), { maxLength: 3 }),
      ),
    )
    .map((value) => JSON.stringify(value)),
  fc.constantFrom('', '{', '[[[', '"', '{"name":}', '\ufeff{}', '[]', 'null', '1e999', `{"a":${'['.repeat(9_000)}`),
)
const partHeader = fc.oneof(
  fc
    .tuple(fc.constantFrom('file', 'path', '', 'other', '__proto__'), fc.oneof(word, fc.constant(undefined)))
    .map(
      ([name, file]) =>
        `Content-Disposition: form-data; name="${name}"${file === undefined ? '' : `; filename="${file.replace(/[\r\n"]/g, '_')}"`}`,
    ),
  fc.constantFrom(
    'Content-Type: text/plain',
    'Content-Type: text/html; charset=x',
    'Content-Type: nonsense',
    'X',
    ': ',
    '',
  ),
  word.map((text) => `X-Any: ${text}`),
  word.map((text) => `Content-Disposition: form-data; name="file"; filename*=UTF-8''${text}`),
)
const filePart = word.map(
  (text) => `--B\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n${text}\r\n`,
)
const formPart = fc
  .tuple(
    fc.array(partHeader, { maxLength: 3 }),
    fc.oneof(word, fc.constantFrom('/', '/.inbox', '--B', '\r\n--B', '\r\n--')),
  )
  .map(([headers, content]) => `--B\r\n${headers.join('\r\n')}\r\n\r\n${content}\r\n`)
const formBody = fc
  .tuple(
    fc.constantFrom('', 'preamble\r\n', '\r\n'),
    fc.array(fc.oneof(filePart, formPart), { maxLength: 4 }),
    fc.constantFrom('--B--', '--B--', '--B--\r\n', '--B', ''),
  )
  .map(([before, parts, end]) => before + parts.join('') + end)

const headerLine = fc.oneof(
  fc.constantFrom(
    'Expect: 100-continue',
    'Range: bytes=0-1',
    'If-None-Match: *',
    'Accept: nothing',
    'Connection: upgrade',
    'Upgrade: x',
  ),
  fc.constantFrom(
    'Transfer-Encoding: gzip',
    'Content-Encoding: gzip',
    'Host: y',
    'Authorization: Bearer',
    'Cookie: a=b',
    'X: \u00ff',
  ),
  fc
    .tuple(fc.constantFrom('X-Any', 'Accept', 'Origin', 'X-HTTP-Method-Override'), word)
    .map(([name, text]) => `${name}: ${text.replace(/[^\x20-\x7e]/g, '_').slice(0, 200)}`),
)
const contentType = fc.constantFrom(
  ...[
    'application/json',
    'application/json; charset=utf-16',
    'text/plain',
    'multipart/form-data',
    'application/x-www-form-urlencoded',
    '',
  ],
)

const request = fc.record({
  route: fc.constantFrom(...ROUTE_NAMES),
  /** Undefined stands for the identifier of an existing thing. */
  identifier: fc.option(encoded, { nil: undefined, freq: 3 }),
  query: fc.oneof(fc.constant(''), wordQuery, queryString),
  credential: fc.constantFrom('valid', 'valid', 'valid', 'none', 'other'),
  headers: fc.array(headerLine, { maxLength: 2 }),
  body: fc.record({ json: jsonBody, form: formBody, other: word }),
  /** The body: one that the route accepts, or anything under any type. */
  sends: fc.oneof(
    { weight: 2, arbitrary: fc.constant('fitting') },
    { weight: 1, arbitrary: fc.constant(undefined) },
    { weight: 1, arbitrary: fc.record({ type: contentType, kind: fc.constantFrom('json', 'form', 'other') }) },
  ),
  isChunked: fc.boolean(),
})
type Asked = typeof request extends fc.Arbitrary<infer T> ? T : never

async function startTarget() {
  const started = await startLibrary({ requests: { bodyIdleMs: 500, lingerMs: 500, headersMs: 500 } })
  const { client, library } = started
  const known = new Map([['library', await client.createLibrary()]])
  known.set('resource', await client.uploaded(known.get('library') ?? '', { name: 'a.txt', content: 'zebra' }))
  known.set('asset', `${known.get('resource')}.0`)
  await client.processed(known.get('library') ?? '', known.get('resource') ?? '')
  const { hostname, port } = new URL(library.url)
  const ask = async (asked: Asked) => {
    const socket = connect({ host: hostname, port: Number(port) })
    await once(socket, 'connect')
    // The service may stop reading a request that it refuses.
    socket.on('error', () => {})
    socket.write(rawRequest(asked, known, library.token))
    return readAnswer(await buffer(socket).catch(() => Buffer.alloc(0)))
  }
  return { ...started, ask }
}

function rawRequest(asked: Asked, all: ReadonlyMap<string, string>, token: string): Buffer {
  const { method, path } = ROUTES[asked.route]
  // The library must stay, because the next requests use it.
  const known = asked.route === 'deleteLibrary' ? new Map<string, string>() : all
  const url =
    API_PREFIX + path.replace(/\{(\w+)\}/g, (_, name: string) => asked.identifier ?? known.get(name) ?? 'none')
  const credential = { valid: [`Authorization: Bearer ${token}`], none: [], other: ['Authorization: Bearer kls_x_y'] }[
    asked.credential
  ]
  const { type, text } = bodyOf(asked)
  const body = Buffer.from(text)
  const lines = [
    `${method} ${url}${asked.query === '' ? '' : `?${asked.query}`} HTTP/1.1`,
    ...['Host: localhost', 'Connection: close', ...credential, ...asked.headers],
    ...(type === '' ? [] : [`Content-Type: ${type}`]),
    asked.isChunked ? 'Transfer-Encoding: chunked' : `Content-Length: ${body.length}`,
  ]
  const chunk = body.length === 0 ? '' : `${body.length.toString(16)}\r\n${body.toString('latin1')}\r\n`
  const content = asked.isChunked ? `${chunk}0\r\n\r\n` : body.toString('latin1')
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n${content}`, 'latin1')
}

function bodyOf({ route, body, sends }: Asked): { type: string; text: string } {
  if (!sends) return { type: '', text: '' }
  if (sends !== 'fitting') return { type: sends.type, text: body[sends.kind] }
  if (route === 'uploadFile') return { type: 'multipart/form-data; boundary=B', text: body.form }
  return { type: 'application/json', text: body.json }
}

interface RawAnswer {
  readonly status: number
  readonly type: string
  readonly body: string
}

function readAnswer(bytes: Buffer): RawAnswer {
  const whole = bytes.toString('utf8').replace(/^HTTP\/1\.1 100 Continue\r\n\r\n/, '')
  const end = whole.indexOf('\r\n\r\n')
  const type = /\r\ncontent-type: ([^;\r]*)/i.exec(whole.slice(0, end))?.[1] ?? ''
  return { status: Number(whole.split(' ', 2)[1]), type, body: whole.slice(end + 4) }
}

const fields = expect.toSatisfy(
  (errors: unknown) =>
    errors === undefined ||
    Object.values(errors ?? {}).every(
      (texts) => Array.isArray(texts) && texts.every((text) => typeof text === 'string'),
    ),
)

describe('any request to the embedded library', () => {
  it('any request is answered, and never with a failure', async () => {
    const { ask, client, dataDir } = await startTarget()
    await fc.assert(
      fc.asyncProperty(request, async (asked) => {
        const { status, type, body } = await ask(asked)
        expect(ANSWERS).toContain(status)
        if (status < 400) return
        expect(type).toBe('application/json')
        const json: Record<string, unknown> = JSON.parse(body)
        expect(json).toEqual({ message: expect.stringMatching(/\S/), ...('errors' in json ? { errors: fields } : {}) })
      }),
      fuzzing(1_000),
    )
    expect((await client.get('/auth/check')).status).toBe(200)
    expect(readdirSync(join(dataDir, 'tmp'))).toEqual([])
  })
})
