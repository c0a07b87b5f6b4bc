import type { IncomingMessage, RequestListener } from 'node:http'
import { inspect } from 'node:util'
import { gzipSync } from 'node:zlib'
import { MockAgent } from 'undici'
import { describe, expect, it } from 'vitest'
import { ROUTES } from '../../../src/contract/routes.ts'
import type { RequestObservation } from '../../../src/remote/client-options.ts'
import {
  clientOf,
  clientOn,
  collect,
  EMPTY_PAGE,
  HELLO,
  serve,
  serveSockets,
  TOKEN,
  thrownBy,
  turns,
  uploadOf,
} from '../support.ts'

const ONE_TRY = { retry: { attempts: 1, firstDelayMs: 1, maxDelayMs: 1 } }
const RESOURCE = { id: 'r1', ingestion_status: 'running' }

/** Returns what `showResource` throws when the server answers like this. */
async function failureOf(listener: RequestListener, overrides: Parameters<typeof clientOf>[1] = ONE_TRY) {
  await using client = await clientOn(overrides, listener)
  return thrownBy(client.showResource('lib', 'r1'))
}

describe('invalid answers', () => {
  it.each<[string, RequestListener]>([
    ['a page of HTML', (_, answer) => answer.setHeader('content-type', 'text/html').end('<html>Please log in</html>')],
    ['JSON that breaks off', (_, answer) => answer.end('{"id":"r1"')],
    ['nothing at all', (_, answer) => answer.end()],
    ['a wrong type', (_, answer) => answer.end('{"id":1}')],
    ['an empty identifier', (_, answer) => answer.end('{"id":""}')],
    ['an array', (_, answer) => answer.end('[]')],
    ['a status that means nothing', (_, answer) => answer.writeHead(202).end(JSON.stringify(RESOURCE))],
    ['too much JSON', (_, answer) => answer.end(JSON.stringify({ ...RESOURCE, filler: 'x'.repeat(9 << 20) }))],
    [
      'a bomb of gzip',
      (_, answer) =>
        answer.setHeader('content-encoding', 'gzip').end(gzipSync(JSON.stringify(RESOURCE).padEnd(64 << 20))),
    ],
    ['gzip that is none', (_, answer) => answer.setHeader('content-encoding', 'gzip').end('{"id":"r1"}')],
    ['an encoding nobody asked for', (_, answer) => answer.setHeader('content-encoding', 'br').end('{"id":"r1"}')],
  ])('an answer with %s is malformed [F-SV-14, S-09]', async (_, listener) => {
    expect(await failureOf(listener)).toMatchObject({ kind: 'temporary', code: 'answer-malformed' })
  })

  it('bytes that are not HTTP are a malformed answer [F-SV-14]', async () => {
    await using server = await serveSockets((socket) => socket.end('220 smtp ready\r\n'))
    await using client = clientOf(server.origin, ONE_TRY)
    expect(await thrownBy(client.checkAccess())).toMatchObject({ code: 'answer-malformed' })
  })

  it('a drip-fed answer is cut at its deadline [F-SV-05]', async () => {
    const drip: RequestListener = (_, answer) => {
      const timer = setInterval(() => answer.write(' '), 5)
      answer.on('close', () => clearInterval(timer))
    }
    const timeouts = { requestMs: 100, uploadStallMs: 100 }
    expect(await failureOf(drip, { ...ONE_TRY, timeouts })).toMatchObject({ kind: 'temporary', code: 'answer-late' })
  })

  it('a cut chunked answer is a broken connection', async () => {
    const cut: RequestListener = (_, answer) => {
      answer.write('{"id":"r1"')
      setImmediate(() => answer.destroy())
    }
    expect(await failureOf(cut)).toMatchObject({ kind: 'temporary', code: 'service-unreachable' })
  })

  it('a compressed answer is read', async () => {
    await using client = await clientOn({}, (request, answer) => {
      expect(request.headers['accept-encoding']).toBe('gzip')
      answer.setHeader('content-encoding', 'gzip').end(gzipSync(JSON.stringify(RESOURCE)))
    })
    expect(await client.showResource('lib', 'r1')).toEqual(RESOURCE)
  })
})

it.each([301, 302, 303, 307, 308])('a redirect (%i) is never followed with the file [P22, F-SV-16]', async (status) => {
  let reached = 0
  await using elsewhere = await serve((_, answer) => {
    reached += 1
    answer.end()
  })
  await using client = await clientOn({}, (request, answer) => {
    request.resume()
    answer.writeHead(status, { location: `${elsewhere.origin}/take?${TOKEN}` }).end()
  })
  const refused = await thrownBy(client.uploadFile(uploadOf(HELLO)))
  expect(refused).toMatchObject({ kind: 'doubt', doubtCause: 'redirect-refused' })
  expect(String(refused)).toContain(`${elsewhere.origin}/take?[secret]`)
  expect(await thrownBy(client.checkAccess())).toMatchObject({ code: 'redirect-refused' })
  expect(reached).toBe(0)
})

describe('the wire', () => {
  const failingWith = async (code: string) => {
    const agent = new MockAgent()
    agent.disableNetConnect()
    agent
      .get('https://h.example')
      .intercept({ path: '/api/v1/auth/check' })
      .replyWithError(Object.assign(new Error('no'), { code }))
    await using client = clientOf('https://h.example', { ...ONE_TRY, dispatcher: agent })
    return thrownBy(client.checkAccess())
  }

  it.each([
    'DEPTH_ZERO_SELF_SIGNED_CERT',
    'SELF_SIGNED_CERT_IN_CHAIN',
    'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
    'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
    'CERT_HAS_EXPIRED',
    'ERR_TLS_CERT_ALTNAME_INVALID',
  ])('a refused certificate is final: %s [F-SV-02, S-02]', async (code) => {
    expect(await failingWith(code)).toMatchObject({ kind: 'access', code: 'certificate-refused' })
  })

  it.each([
    'ENOTFOUND',
    'ECONNREFUSED',
    'EAI_AGAIN',
    'EHOSTUNREACH',
    'UND_ERR_CONNECT_TIMEOUT',
    'ERR_SSL_WRONG_VERSION_NUMBER',
  ])('a service that cannot be reached is temporary: %s [F-SV-01]', async (code) =>
    expect(await failingWith(code)).toMatchObject({ kind: 'temporary', code: 'service-unreachable' }),
  )
})

it.each([
  ['No required SSL certificate was sent', undefined],
  ['The SSL certificate error', 'gzip'],
])('the page of nginx is a refused client certificate: %s [F-SV-24]', async (words, encoding) => {
  // As nginx 1.22 answers on a port with ssl_verify_client.
  const page = `<html>\r\n<head><title>400 ${words}</title></head>\r\n<body>\r\n<center><h1>400 Bad Request</h1></center>`
  const body = encoding === undefined ? Buffer.from(page) : gzipSync(page)
  const headers = { 'content-type': 'text/html', ...(encoding && { 'content-encoding': encoding }) }
  const failure = await failureOf((_, answer) => answer.writeHead(400, headers).end(body))
  expect(failure).toMatchObject({ kind: 'access', code: 'client-certificate-refused' })
  expect(String(failure)).toMatch(/http:\/\/127\S+ demands a client certificate, and none is configured: .*certFile/)
})

describe('refusals', () => {
  const answering =
    (status: number, body: object): RequestListener =>
    (_, answer) =>
      answer.writeHead(status).end(JSON.stringify(body))

  it.each([
    [401, { kind: 'access', code: 'credential-refused' }],
    [403, { kind: 'access', code: 'right-missing' }],
    [400, { kind: 'request', code: 'invalid', status: 400 }],
    [404, { kind: 'request', code: 'not-found', status: 404 }],
    [409, { kind: 'request', code: 'conflict', status: 409 }],
    [413, { kind: 'request', code: 'too-large', status: 413 }],
    [415, { kind: 'request', code: 'request-rejected', status: 415 }],
    [422, { kind: 'request', code: 'invalid', status: 422 }],
  ])('the status %i becomes its one error', async (status, expected) => {
    expect(await failureOf(answering(status, {}))).toMatchObject(expected)
  })

  it('a refusal names the right that is missing [F-SV-07]', async () => {
    expect(String(await failureOf(answering(403, {})))).toContain('the right "read" is needed')
  })

  it('a refusal shows the words of the service, escaped [S-08]', async () => {
    const failure = await failureOf(
      answering(422, { detail: 'Bad\u001b[31m path', errors: { path: ['is odd', 'is long'] } }),
    )
    expect(String(failure)).toBe(
      'RequestError: Cannot show the resource "r1": the service answered 422 (validation error): ' +
        'Bad\\x1b[31m path; path: is odd, is long',
    )
  })

  it('a refusal bounds the words of the service [S-08]', async () => {
    expect(String(await failureOf(answering(422, { message: 'x'.repeat(100_000) }))).length).toBeLessThan(1_000)
  })

  it('a refusal never shows a credential that the service repeats [P22]', async () => {
    const listener: RequestListener = (request, answer) =>
      answer.writeHead(401).end(JSON.stringify({ message: `${'x'.repeat(590)} ${request.headers.authorization}` }))
    const failure = await failureOf(listener)
    expect(inspect(failure, { depth: 9 })).not.toContain(TOKEN.slice(0, 8))
  })
})

describe('requests', () => {
  it('a request carries the credential in one header only [P22, S-03]', async () => {
    const seen: IncomingMessage[] = []
    await using client = await clientOn({}, (request, answer) => {
      seen.push(request)
      answer.end(JSON.stringify(request.url?.includes('directory') ? EMPTY_PAGE : { ...RESOURCE, id: 'r/1?x' }))
    })
    await client.showResource('lib', 'r/1?x')
    await collect(client.listDirectory('lib', '/ä b'))
    expect(seen.map(({ url }) => url)).toEqual([
      '/api/v1/libraries/lib/resources/r%2F1%3Fx',
      '/api/v1/libraries/lib/directory?path=%2F%C3%A4%20b&limit=500',
    ])
    for (const { headers } of seen) {
      expect(headers.authorization).toBe(`Bearer ${TOKEN}`)
      expect(inspect({ ...headers, authorization: '' })).not.toContain(TOKEN)
    }
  })

  it('the client requests only what the interface names [P7]', async () => {
    const seen: string[] = []
    await using client = await clientOn({}, (request, answer) => {
      seen.push(`${request.method} ${request.url?.split('?')[0]}`)
      answer.writeHead(404).end()
    })
    await Promise.all(
      [client.checkAccess(), collect(client.listLibraries()), client.createLibrary('x', null)].map(thrownBy),
    )
    await Promise.all(
      [client.showLibrary('x'), client.deleteLibrary('x'), client.createDirectory('x', '/a')].map(thrownBy),
    )
    await Promise.all([collect(client.listDirectory('x', '/')), client.uploadFile(uploadOf(HELLO))].map(thrownBy))
    await Promise.all([client.deleteResource('x', 'x')].map(thrownBy))
    await Promise.all([client.showResource('x', 'x'), client.searchResources({ query: 'x' })].map(thrownBy))
    await Promise.all([client.downloadResource('x'), client.createResourceViewUrl('x', {})].map(thrownBy))
    await Promise.all([client.downloadAsset('x'), client.createAssetViewUrl('x', {})].map(thrownBy))
    await Promise.all(
      [client.downloadRepresentation('x', 'scene', 1), client.downloadRepresentation('x', 'frame', 1)].map(thrownBy),
    )
    const named = Object.values(ROUTES).map(({ method, path }) => `${method} /api${path.replaceAll(/\{(\w+)\}/g, 'x')}`)
    expect(seen.map((line) => line.replace('/lib/', '/x/')).sort()).toEqual(named.sort())
  })

  it('the credential never appears in logs or errors [P22]', async () => {
    const logged: unknown[] = []
    const record = (...line: unknown[]) => void logged.push(line)
    const seen = [503, 429, 500, 422, 401, 403, 302, 200]
    const logger = { debug: record, info: record, warn: record, error: record }
    await using client = await clientOn({ logger }, (request, answer) => {
      const body = JSON.stringify({ detail: `Is ${request.headers.authorization} yours?` })
      answer.writeHead(seen.shift() ?? 401, { 'retry-after': '1' }).end(body)
    })
    for (let call = 0; call < 5; call += 1) logged.push(await thrownBy(client.checkAccess()))
    expect(logged.length).toBeGreaterThan(9)
    expect(inspect(logged, { depth: 9, showHidden: true })).not.toContain(TOKEN)
  })

  it('each request is reported to the metrics', async () => {
    const seen: RequestObservation[] = []
    await using client = await clientOn({ onRequest: (observation) => seen.push(observation) }, (_, answer) =>
      answer.writeHead(404).end(),
    )
    await thrownBy(client.showLibrary('lib'))
    expect(seen).toEqual([{ route: 'showLibrary', status: 404, durationMs: expect.any(Number) }])
  })

  it('an abort stops a request at once', async () => {
    await using client = await clientOn({}, () => {})
    const abort = new AbortController()
    const pending = thrownBy(client.checkAccess(abort.signal))
    setImmediate(() => abort.abort())
    expect(await pending).toMatchObject({ kind: 'interrupted' })
    expect(await thrownBy(client.checkAccess(abort.signal))).toMatchObject({ kind: 'interrupted' })
  })

  it('a request aborted while it waited is never sent', async () => {
    const asked: string[] = []
    let finish = () => {}
    await using client = await clientOn({ connections: 1 }, (request, answer) => {
      asked.push(request.url?.split('/').at(-1) ?? '')
      finish = () => answer.end('{"id":"first"}')
    })
    const first = client.showResource('lib', 'first')
    while (asked.length === 0) await turns()
    const abort = new AbortController()
    const second = thrownBy(client.showResource('lib', 'second', abort.signal))
    await turns()
    abort.abort()
    expect(await second).toMatchObject({ kind: 'interrupted' })
    finish()
    await first
    await turns()
    expect(asked).toEqual(['first'])
  })

  it('a closed client does nothing more', async () => {
    const client = clientOf('http://127.0.0.1:1')
    await client.close()
    expect(await thrownBy(client.checkAccess())).toMatchObject({ kind: 'temporary', code: 'connection-closed' })
    const abort = AbortSignal.abort()
    expect(await thrownBy(client.checkAccess(abort))).toMatchObject({ kind: 'interrupted' })
  })
})
