/** A real proxy, Debian's tinyproxy, between shelfd and a service that it reaches by TLS. */
import { createHash } from 'node:crypto'
import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Authority, makeAuthority } from '../support/certificates.ts'
import { type FaultyService, startFaultyService } from '../support/faulty-service.ts'
import { expectExit, type Home, temporaryHome, type Variables } from '../support/home.ts'
import { readLibrary } from '../support/library-contents.ts'
import { needs } from '../support/needs.ts'
import { startTlsFront } from '../support/network.ts'
import { startTinyproxy, type Tinyproxy } from '../support/tinyproxy.ts'

/** An address that leads to this computer, though neither curl nor shelfd counts it as loopback: so a proxy is used. */
const HOST = '0.0.0.0'
const SYNC = ['Papers', '--to', 'Research']
const CREDENTIALS = 'ada:sesam'

const directory = realpathSync(mkdtempSync(join(tmpdir(), 'shelfd-test-')))
let authority: Authority
let open: Tinyproxy
let closed: Tinyproxy

const isReady = needs('openssl', 'tinyproxy')

beforeAll(async () => {
  if (!isReady) return
  authority = makeAuthority('Office CA', directory)
  open = await startTinyproxy({ refusedHost: 'refused[.]test' })
  // Port 9 is nobody's.
  closed = await startTinyproxy({ credentials: CREDENTIALS.replace(':', ' '), onlyPort: 9 })
})

afterAll(async () => {
  if (!isReady) return
  await open[Symbol.asyncDispose]()
  await closed[Symbol.asyncDispose]()
  rmSync(directory, { recursive: true })
})

interface Office {
  readonly service: FaultyService
  readonly home: Home
  readonly env: Variables
  readonly port: number
}

async function openOffice(): Promise<Office> {
  const service = await startFaultyService({ library: 'Research' })
  const { port } = await startTlsFront(service.url, authority.issue({ names: [HOST, '::'] }))
  const home = temporaryHome({ url: `https://${HOST}:${port}`, token: service.token })
  return { service, home, port, env: { SHELFD_CA_FILE: authority.file, HTTPS_PROXY: open.url } }
}

/** `whoami` of somebody for whom a proxy refuses, so that no service is needed. */
function ask(url: string, proxyUrl: string) {
  return temporaryHome({ url, token: 'a-token-of-nobody' }).shelfd(['whoami'], { HTTPS_PROXY: proxyUrl })
}

test('a sync through tinyproxy uploads small and large files', async () => {
  const { service, home, env, port } = await openOffice()
  const large = Buffer.alloc(8 << 20, 'a large file that needs many packets. ')
  home.write('Papers', { 'a.md': 'A', 'b/c.md': 'C', 'large.bin': large })
  const { exitCode, mirror } = await home.sync(SYNC, env)
  expect({ exitCode, created: mirror.uploads.created }).toEqual({ exitCode: 0, created: 3 })
  const sha256 = createHash('sha256').update(large).digest('hex')
  expect(readLibrary(service.dataDir)).toContainEqual(expect.objectContaining({ sha256 }))
  expect(open.targets).toContain(`${HOST}:${port}`)
})

test('an upload whose tinyproxy dies is in doubt and stored once [F-SV-04]', async () => {
  const { service, home, env } = await openOffice()
  home.write('Papers', { 'a.md': 'A', 'large.bin': 'x'.repeat(2 << 20) })
  const mortal = await startTinyproxy()
  service.onUploadBegun = () => mortal.kill()
  const first = await home.sync(SYNC, { ...env, HTTPS_PROXY: mortal.url, SHELFD_RETRY_FOR: '0', SHELFD_TRANSFERS: '1' })
  expect(first).toMatchObject({ exitCode: 5, mirror: { uploads: { created: 0, inDoubt: 1 } } })
  expect(first.stderr).toContain(`the proxy ${mortal.url} (HTTPS_PROXY)`)
  service.onUploadBegun = () => {}
  const second = await home.sync(SYNC, env)
  expect(second).toMatchObject({ exitCode: 0 })
  expect(readLibrary(service.dataDir)).toHaveLength(2)
})

test('NO_PROXY leads around tinyproxy', async () => {
  const { home, env, port } = await openOffice()
  for (const exception of [HOST, '0.0.0.0/8', `${HOST}:${port}`]) {
    const before = open.targets.length
    expect(await home.shelfd(['whoami'], { ...env, NO_PROXY: exception })).toMatchObject({ exitCode: 0 })
    expect(open.targets.slice(before)).toEqual([])
  }
  expect(await home.shelfd(['whoami'], { ...env, NO_PROXY: '10.0.0.0/8' })).toMatchObject({ exitCode: 0 })
  expect(open.targets.at(-1)).toBe(`${HOST}:${port}`)
})

test('only the right credentials open a tunnel through tinyproxy', async () => {
  const url = `https://${HOST}:9`
  const withCredentials = (credentials: string) => closed.url.replace('//', `//${credentials}@`)
  expectExit(await ask(url, closed.url), 7, /asks for credentials \(407\).*HTTPS_PROXY/)
  const wrong = expectExit(
    await ask(url, withCredentials('ada:wrong-word')),
    7,
    /refuses the credentials \(401\).*HTTPS_PROXY/,
  )
  expect(wrong.stderr).not.toContain('wrong-word')
  // With the right ones it tries the port, where nobody listens.
  expectExit(await ask(url, withCredentials(CREDENTIALS)), 5, `cannot connect to ${HOST}:9 (500)`)
  expect(closed.targets).toContain(`${HOST}:9`)
})

test.each([
  [
    'a refused host',
    'https://refused.test',
    () => open.url,
    7,
    /refuses connections to refused\.test:443 \(403\); ask its operator/,
  ],
  [
    'a refused port',
    `https://${HOST}:8443`,
    () => closed.url.replace('//', `//${CREDENTIALS}@`),
    7,
    /refuses connections to 0\.0\.0\.0:8443 \(403\)/,
  ],
  [
    'a name that it does not find',
    'https://library.invalid',
    () => open.url,
    5,
    /cannot connect to library\.invalid:443 \(500\)/,
  ],
])('tinyproxy and %s are named', async (_, url, proxyUrl, exitCode, message) => {
  const answer = expectExit(await ask(url, proxyUrl()), exitCode, message)
  expect(answer.stderr).toMatch(/the proxy http:\/\/127\.0\.0\.1:\d+ \(HTTPS_PROXY\)/)
})

test('a proxy at an IPv6 address is used', async () => {
  needs('ipv6')
  const { home, env } = await openOffice()
  await using proxy = await startTinyproxy({ host: '::1' })
  expect(await home.shelfd(['whoami'], { ...env, HTTPS_PROXY: proxy.url })).toMatchObject({ exitCode: 0 })
  expect(proxy.targets).toHaveLength(1)
})

test('the doctor finds its way through tinyproxy', async () => {
  const { home, env } = await openOffice()
  const { stdout } = await home.shelfd(['doctor'], env)
  expect(stdout).toMatch(new RegExp(`proxy +connections pass through ${open.url} \\(from HTTPS_PROXY\\)`))
  expect(stdout).toMatch(/certificate +trusted/)
})
