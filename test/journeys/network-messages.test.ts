/** What stands in the way to a service, and the message: who answers, at which address, why, and what to do next. */
import { mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  type Authority,
  type Certificate,
  daysFromNow,
  makeAuthority,
  makeSelfSigned,
} from '../support/certificates.ts'
import { freePort } from '../support/free-port.ts'
import { expectParts, homeWithPapers, type Variables } from '../support/home.ts'
import { needs } from '../support/needs.ts'
import { startProxy, startRawServer, startTlsFront } from '../support/network.ts'

const HOST = 'library.test'
const PAGE = '<html><body>Sign in to this network</body></html>'
const PAST = daysFromNow(-2)
const FUTURE = daysFromNow(2)
const PORTAL = 'http://portal.test/sign-in'

const directory = realpathSync(mkdtempSync(join(tmpdir(), 'shelfd-test-')))
let office: Authority

const isReady = needs('openssl')

beforeAll(() => {
  if (!isReady) return
  office = makeAuthority('Office CA', directory)
})

afterAll(() => rmSync(directory, { recursive: true }))

interface Obstacle {
  readonly obstacle: string
  /** Puts it up; returns the address of the service, and the environment. */
  readonly make: () => Promise<readonly [url: string, env?: Variables]>
  readonly exit: 5 | 7
  /** What the message names, in this order. */
  readonly says: readonly string[]
  /** Words of its row in docs/network.md. */
  readonly inDocs: string
}

const OBSTACLES: readonly Obstacle[] = [
  direct(
    'a sign-in page with 200',
    answer('200 OK', PAGE),
    5,
    ['HTML instead of JSON', 'in a browser', 'service.url'],
    'HTML instead of JSON',
  ),
  direct(
    'a redirect to a sign-in page',
    answer('302 Found', PAGE, `Location: ${PORTAL}\r\n`),
    7,
    [`redirects to "${PORTAL}" (302)`, 'sign-in page', 'browser', 'service.url'],
    'the service redirects to',
  ),
  direct(
    'a network that wants a sign-in (511)',
    answer('511 No', PAGE),
    5,
    ['511', 'this network wants a sign-in', 'browser'],
    'sign-in',
  ),
  {
    obstacle: 'an unencrypted sign-in page',
    make: async () => [`https://127.0.0.1:${(await startRawServer(answer('200 OK', PAGE))).port}`],
    exit: 5,
    says: ['https://127.0.0.1:', 'does not use TLS; perhaps a sign-in page', 'shelfd doctor'],
    inDocs: 'what answers there does not use TLS; perhaps a sign-in page of this network',
  },
  {
    obstacle: 'a port where nobody listens',
    make: async () => [`https://127.0.0.1:${await freePort()}`],
    exit: 5,
    says: ['https://127.0.0.1:', 'the service cannot be reached (connection refused)', 'shelfd doctor'],
    inDocs: 'connection refused, name not found',
  },
  {
    obstacle: 'a name that nobody knows',
    make: async () => ['https://library.invalid'],
    exit: 5,
    says: ['https://library.invalid', 'the service cannot be reached (', 'name', 'shelfd doctor'],
    inDocs: 'connection refused, name not found',
  },
  proxied(
    'a proxy that wants credentials',
    answer('407 No'),
    7,
    ['asks for credentials (407)', 'HTTPS_PROXY as http://user:password@'],
    'asks for credentials (407)',
  ),
  proxied(
    'a proxy that forbids the service',
    answer('403 No'),
    7,
    [`refuses connections to ${HOST}:443 (403)`, 'operator', 'NO_PROXY'],
    'refuses connections to … (403)',
  ),
  proxied(
    'a proxy without a way to the service',
    answer('502 No'),
    5,
    [`cannot connect to ${HOST}:443 (502)`, 'shelfd doctor'],
    'cannot connect to … (500, 502, 503, 504)',
  ),
  proxied(
    'a proxy that redirects to a sign-in page',
    answer('302 Found', PAGE, `Location: ${PORTAL}\r\n`),
    5,
    [`redirects to "${PORTAL}" instead of connecting to ${HOST}:443 (302)`, 'sign-in with a browser'],
    'the proxy … redirects to',
  ),
  proxied(
    'a proxy that wants a sign-in (511)',
    answer('511 No', PAGE),
    5,
    ['wants a sign-in (511)', 'browser'],
    'wants a sign-in (511)',
  ),
  proxied(
    'a sign-in page within the tunnel',
    answer('200 OK', PAGE),
    5,
    ['through the proxy', 'does not use TLS; perhaps a sign-in page'],
    'what answers there does not use TLS',
  ),
  proxied(
    'a proxy that speaks another protocol',
    '220 smtp ready\r\n',
    5,
    ['cannot be reached (what answers there is no HTTP proxy)', 'shelfd doctor'],
    'what answers there is no HTTP proxy',
  ),
  {
    obstacle: 'a proxy that is away',
    make: async () => [`https://${HOST}`, { HTTPS_PROXY: `http://127.0.0.1:${await freePort()}` }],
    exit: 5,
    says: ['the proxy http://127.0.0.1:', '(HTTPS_PROXY)', 'cannot be reached (connection refused)'],
    inDocs: 'the proxy … cannot be reached (connection refused',
  },
  certified(
    'an expired certificate',
    () => office.issue({ names: [HOST], validFrom: daysFromNow(-9), validTo: PAST }),
    [`expired on ${dateOf(PAST)}`, 'renewed', 'the clock of this computer is at 20'],
    'expired; the message says when',
  ),
  certified(
    'a certificate that begins later',
    () => office.issue({ names: [HOST], validFrom: FUTURE }),
    [`valid only from ${dateOf(FUTURE)}`, 'check the clock'],
    'not yet valid',
  ),
  certified(
    'a certificate of another host',
    () => office.issue({ names: ['files.test', '*.files.test'] }),
    ['is for files.test, *.files.test and not for library.test', 'service.url', 'guest network'],
    'for other hosts',
  ),
  certified(
    'a certificate signed by itself',
    () => makeSelfSigned(HOST),
    ['signed by itself', 'service.caFile'],
    'signed by itself',
  ),
  certified(
    'a certificate of an unknown authority',
    () => makeAuthority('Home CA').issue({ names: [HOST] }),
    ['"Home CA", which this computer does not trust', 'service.caFile', 'NODE_EXTRA_CA_CERTS'],
    'of an unknown authority',
  ),
]

function answer(status: string, body = '', headers = ''): string {
  return `HTTP/1.1 ${status}\r\ncontent-type: text/html\r\nconnection: close\r\n${headers}content-length: ${body.length}\r\n\r\n${body}`
}

/** In place of the service: unencrypted, which shelfd takes from this computer only. */
function direct(obstacle: string, raw: string, exit: 5 | 7, says: readonly string[], inDocs: string): Obstacle {
  const make = async () => [`http://127.0.0.1:${(await startRawServer(raw)).port}`] as const
  return { obstacle, make, exit, says, inDocs }
}

/** In place of a proxy. */
function proxied(obstacle: string, raw: string, exit: 5 | 7, says: readonly string[], inDocs: string): Obstacle {
  const make = async () => {
    const { port } = await startRawServer(raw)
    return [`https://${HOST}`, { HTTPS_PROXY: `http://127.0.0.1:${port}` }] as const
  }
  return {
    obstacle,
    make,
    exit,
    says: ['the proxy http://127.0.0.1:', '(HTTPS_PROXY)', ...says].toSorted(firstThrough),
    inDocs,
  }
}

function dateOf(time: Date): string {
  return time.toISOString().slice(0, 10)
}

/** "… through the proxy …" begins before the name of the proxy. */
function firstThrough(left: string, right: string): number {
  return Number(right.startsWith('through')) - Number(left.startsWith('through'))
}

function certified(
  obstacle: string,
  certificate: () => Certificate,
  says: readonly string[],
  inDocs: string,
): Obstacle {
  const make = async () => {
    const front = await startTlsFront('http://127.0.0.1:9', certificate())
    const proxy = await startProxy({ names: { [HOST]: front.port } })
    const env = { HTTPS_PROXY: `http://127.0.0.1:${proxy.port}`, SHELFD_CA_FILE: office.file }
    return [`https://${HOST}`, env] as const
  }
  return { obstacle, make, exit: 7, says: [`the certificate of https://${HOST}`, ...says], inDocs }
}

const seen = new Map<string, string>()
const docs = readFileSync(new URL('../../docs/network.md', import.meta.url), 'utf8')

test.each(OBSTACLES)('$obstacle is named with what to do [F-SV-02]', async ({ obstacle, make, exit, says, inDocs }) => {
  const [url, env] = await make()
  const home = homeWithPapers({ a: 'x' }, { url, token: 'a-token-of-nobody' })
  const { exitCode, stderr } = await home.shelfd(['sync', 'Papers', '--to', 'Research', '--retry-for', '0'], env)
  const message = stderr.slice(stderr.indexOf('shelfd: '))
  expectParts(message, says)
  expect({ exitCode, message }).toEqual({ exitCode: exit, message: expect.stringMatching(/^shelfd: Cannot /) })
  expect(docs).toContain(inDocs)
  seen.set(obstacle, message.replaceAll(/:\d{4,5}\b/g, ':PORT'))
})

test('no two obstacles of a network have the same message', () => {
  expect(new Set(seen.values()).size).toBe(seen.size)
  expect(seen.size).toBe(OBSTACLES.length)
})
