import { once } from 'node:events'
import { connect } from 'node:net'
import fc from 'fast-check'
import { API_PREFIX, OPENAPI_PATH, ROUTES } from '../../src/contract/routes.ts'
import type { ServiceClient } from '../contract/service-client.ts'
import { jsonText, spoiled } from './fuzzing.ts'

/** What can be asked: every operation of the interface, and what the library serves beside them. */
const TARGETS = {
  ...ROUTES,
  agent: { method: 'POST', path: '/mcp' },
  description: { method: 'GET', path: OPENAPI_PATH },
  page: { method: 'GET', path: '/library' },
} as const
type TargetName = keyof typeof TARGETS

const TARGET_NAMES = Object.keys(TARGETS).filter((name): name is TargetName => name in TARGETS)
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
  ...[
    'disposition',
    'signature',
    'expires',
    'tenant_id',
    'timestamp_seconds',
    'assets_from',
    'asset_text',
    '__proto__',
    '',
  ],
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
const momentQuery = fc
  .oneof(
    fc.double({ min: 0, max: 5, noNaN: true }).map(String),
    fc.constantFrom('0', '1.999', '2', '4', '1e-9', '-0', '1e9', ''),
  )
  .map((seconds) => `timestamp_seconds=${seconds}`)
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
/** The answer to a longer message may be lost, because a refused request is not read to its end. */
const SAFE_MESSAGE_LENGTH = 60_000
const rpcBody = spoiled({
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/call',
  params: { name: 'search', arguments: { query: 'zebra', library: 'none', resource: 'none', path: '/', limit: 3 } },
}).map(jsonText)
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

/** A real file that is cut anywhere and has some bytes changed. */
function spoiledFile(files: readonly RealFile[]) {
  const change = fc.tuple(fc.nat(), fc.nat(255))
  return fc
    .tuple(fc.nat(), fc.option(fc.nat(), { nil: undefined }), fc.array(change, { maxLength: 20 }))
    .map(([which, cut, changes]) => {
      const file = files[which % files.length]
      const bytes = Buffer.from(file?.bytes ?? Buffer.alloc(0))
      for (const [at, value] of changes) if (bytes.length > 0) bytes[at % bytes.length] = value
      const kept = cut === undefined ? bytes : bytes.subarray(0, cut % (bytes.length + 1))
      const head = `--B\r\nContent-Disposition: form-data; name="file"; filename="a"\r\nContent-Type: ${file?.type}\r\n\r\n`
      return Buffer.concat([Buffer.from(head), kept, Buffer.from('\r\n--B--\r\n')])
    })
}

export interface RealFile {
  readonly type: string
  readonly bytes: Uint8Array
}

/** Any request; one upload in three sends one of the files, spoiled. Messages of agents are no longer than `maxMessageLength`. */
export const anyRequest = (files: readonly RealFile[], maxMessageLength = SAFE_MESSAGE_LENGTH) =>
  fc.record({
    route: fc.oneof(
      { weight: 4, arbitrary: fc.constantFrom(...TARGET_NAMES) },
      { weight: 1, arbitrary: fc.constant('uploadFile' as const) },
    ),
    /** Of an asset: the video, otherwise a text. */
    isVideo: fc.boolean(),
    file: fc.option(spoiledFile(files), { nil: undefined, freq: 1 }),
    /** Undefined stands for the identifier of an existing thing. */
    identifier: fc.option(encoded, { nil: undefined, freq: 3 }),
    query: fc.oneof(fc.constant(''), wordQuery, momentQuery, queryString),
    credential: fc.constantFrom('valid', 'valid', 'valid', 'none', 'other'),
    headers: fc.array(headerLine, { maxLength: 2 }),
    body: fc.record({
      json: jsonBody,
      rpc: rpcBody.filter((text) => text.length <= maxMessageLength),
      form: formBody,
      other: word,
    }),
    /** The body: one that the route accepts, or anything under any type. */
    sends: fc.oneof(
      { weight: 2, arbitrary: fc.constant('fitting') },
      { weight: 1, arbitrary: fc.constant(undefined) },
      { weight: 1, arbitrary: fc.record({ type: contentType, kind: fc.constantFrom('json', 'form', 'other') }) },
    ),
    isChunked: fc.boolean(),
  })
export type AnyRequest = ReturnType<typeof anyRequest> extends fc.Arbitrary<infer T> ? T : never

/** A service to ask, and the identifiers of a library, a resource, a text and a video in it. */
export interface RequestTarget {
  readonly url: string
  readonly token: string
  readonly ids: ReadonlyMap<string, string>
}

/** Adds a text and a film to a library of the service. */
export async function prepareTarget(
  client: ServiceClient,
  { url, token, film }: { readonly url: string; readonly token: string; readonly film: Uint8Array<ArrayBuffer> },
): Promise<RequestTarget> {
  const library = await client.createLibrary()
  const resource = await client.uploaded(library, { name: 'a.txt', content: 'zebra' })
  const video = await client.uploaded(library, { name: 'a.mp4', type: 'video/mp4', content: film })
  const { assets } = await client.processed(library, video)
  const videoAsset = Array.isArray(assets) ? String(assets[0]?.id) : ''
  const ids = { library, resource, asset: `${resource}.0`, video: videoAsset }
  return { url, token, ids: new Map(Object.entries(ids)) }
}

/** Sends a request byte by byte as it is, and returns the answer. */
export async function sendRaw(asked: AnyRequest, target: RequestTarget): Promise<RawResponse> {
  const { hostname, port } = new URL(target.url)
  const socket = connect({ host: hostname, port: Number(port) })
  await once(socket, 'connect')
  const received: Buffer[] = []
  socket.on('data', (bytes) => received.push(bytes))
  // The service may stop reading a request that it refuses; its answer has come before.
  socket.on('error', () => {})
  socket.write(rawRequest(asked, target))
  await new Promise((resolve) => socket.once('close', resolve))
  return readResponse(Buffer.concat(received))
}

function rawRequest(asked: AnyRequest, { ids, token }: RequestTarget): Buffer {
  const { method, path } = TARGETS[asked.route]
  // The library must stay, because the next requests use it.
  const known = asked.route === 'deleteLibrary' ? new Map<string, string>() : ids
  const idOf = (name: string) => known.get(name === 'asset' && asked.isVideo ? 'video' : name) ?? 'none'
  const prefix = asked.route in ROUTES ? API_PREFIX : ''
  const url = prefix + path.replace(/\{(\w+)\}/g, (_, name: string) => asked.identifier ?? idOf(name))
  const credential = { valid: [`Authorization: Bearer ${token}`], none: [], other: ['Authorization: Bearer kls_x_y'] }[
    asked.credential
  ]
  const { type, body } = bodyOf(asked)
  const lines = [
    `${method} ${url}${asked.query === '' ? '' : `${url.includes('?') ? '&' : '?'}${asked.query}`} HTTP/1.1`,
    ...['Host: localhost', 'Connection: close', ...credential, ...asked.headers],
    ...(asked.route === 'agent' ? ['Accept: application/json, text/event-stream'] : []),
    ...(type === '' ? [] : [`Content-Type: ${type}`]),
    asked.isChunked ? 'Transfer-Encoding: chunked' : `Content-Length: ${body.length}`,
  ]
  const chunk = body.length === 0 ? [] : [Buffer.from(`${body.length.toString(16)}\r\n`), body, Buffer.from('\r\n')]
  const content = asked.isChunked ? [...chunk, Buffer.from('0\r\n\r\n')] : [body]
  return Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), ...content])
}

function bodyOf({ route, body, sends, file }: AnyRequest): { type: string; body: Buffer } {
  if (!sends) return { type: '', body: Buffer.alloc(0) }
  if (sends !== 'fitting') return { type: sends.type, body: Buffer.from(body[sends.kind]) }
  if (route === 'uploadFile') return { type: 'multipart/form-data; boundary=B', body: file ?? Buffer.from(body.form) }
  return { type: 'application/json', body: Buffer.from(route === 'agent' ? body.rpc : body.json) }
}

export interface RawResponse {
  /** NaN when there was none. */
  readonly status: number
  readonly type: string
  readonly body: string
}

function readResponse(bytes: Buffer): RawResponse {
  const whole = bytes.toString('utf8').replace(/^HTTP\/1\.1 100 Continue\r\n\r\n/, '')
  const end = whole.indexOf('\r\n\r\n')
  const type = /\r\ncontent-type: ([^;\r]*)/i.exec(whole.slice(0, end))?.[1] ?? ''
  return { status: Number(whole.split(' ', 2)[1]), type, body: whole.slice(end + 4) }
}
