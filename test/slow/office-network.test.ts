/** Office networks: the service is behind a proxy, and its certificate is of an authority that only the office trusts. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { type Authority, makeAuthority, makeSelfSigned } from '../support/certificates.ts'
import { type FaultyOptions, type FaultyService, startFaultyService } from '../support/faulty-service.ts'
import { freePort } from '../support/free-port.ts'
import { expectExit, type Home, homeWithPapers, temporaryHome } from '../support/home.ts'
import { homeOnService } from '../support/home-on-service.ts'
import { readLibrary } from '../support/library-contents.ts'
import { type ProxyOptions, startProxy, startTlsFront, type TestProxy } from '../support/network.ts'

const HOST = 'library.test'

interface Office {
  readonly service: FaultyService
  readonly authority: Authority
  readonly proxy: TestProxy
  /** A service that only the proxy reaches, and only `SHELFD_CA_FILE` makes trusted. */
  readonly home: Home
  readonly proxyUrl: string
}

async function openOffice(proxyOptions: Omit<ProxyOptions, 'names'> = {}, faulty: FaultyOptions = {}): Promise<Office> {
  const service = await startFaultyService({ library: 'Research', ...faulty })
  const authority = makeAuthority()
  const front = await startTlsFront(service.url, authority.issue({ names: [HOST] }))
  const proxy = await startProxy({ names: { [HOST]: front.port }, ...proxyOptions })
  const home = homeWithPapers(
    { 'a.md': 'A', 'b.md': 'B', 'big.md': 'x'.repeat(400_000) },
    { url: `https://${HOST}`, token: service.token },
  )
  return { service, authority, proxy, home, proxyUrl: `http://127.0.0.1:${proxy.port}` }
}

const SYNC = ['Papers', '--to', 'Research']

describe('proxies', () => {
  test('a proxy of the environment is used for uploads', async () => {
    const { service, authority, proxy, home, proxyUrl } = await openOffice()
    const env = { SHELFD_CA_FILE: authority.file }
    for (const variable of ['HTTPS_PROXY', 'https_proxy', 'ALL_PROXY', 'all_proxy']) {
      const { exitCode, stderr } = await home.run(['whoami'], { ...env, [variable]: proxyUrl })
      expect({ variable, exitCode, stderr }).toMatchObject({ variable, exitCode: 0 })
    }
    const { exitCode, mirror } = await home.sync(SYNC, { ...env, HTTPS_PROXY: proxyUrl })
    expect({ exitCode, created: mirror.uploads.created }).toEqual({ exitCode: 0, created: 3 })
    expect(readLibrary(service.dataDir)).toHaveLength(3)
    expect(new Set(proxy.targets)).toEqual(new Set([`${HOST}:443`]))
  })

  test('only the proxy receives its credentials [P22]', async () => {
    const { service, authority, home, proxy } = await openOffice({ credentials: 'ada:sesam öffne' })
    const proxyUrl = `http://ada:sesam%20%C3%B6ffne@127.0.0.1:${proxy.port}`
    const env = { SHELFD_CA_FILE: authority.file, https_proxy: proxyUrl }
    const { exitCode, stdout, stderr } = await home.run(['sync', ...SYNC, '-vv'], env)
    expect({ exitCode, stderr }).toMatchObject({ exitCode: 0 })
    expect(stdout + stderr).not.toMatch(/sesam/)
    expect(service.requests.some(({ headers }) => 'proxy-authorization' in headers)).toBe(false)
  })

  test('uploads that a proxy refuses are not in doubt [F-SV-03]', async () => {
    const { service, authority, home, proxy, proxyUrl } = await openOffice()
    const env = { SHELFD_CA_FILE: authority.file, HTTPS_PROXY: proxyUrl, SHELFD_TRANSFERS: '1' }
    let isCut = false
    service.onResponse = ({ route }) => {
      if (route !== 'uploadFile' || isCut) return
      isCut = true
      proxy.refusal = 403
      for (const socket of proxy.tunnels) socket.destroy()
    }
    const first = await home.sync(SYNC, env)
    // The answer to the first upload was lost with its tunnel: only this upload is in doubt, the others were never sent.
    expect(first.exitCode).toBe(7)
    expect(first.mirror.uploads).toMatchObject({ created: 0, inDoubt: 1 })
    proxy.refusal = undefined
    const second = await home.sync(SYNC, env)
    expect(second.exitCode).toBe(0)
    expect(service.count('uploadFile')).toBe(3)
    expect(readLibrary(service.dataDir)).toHaveLength(3)
  })

  test('no proxy is used for NO_PROXY names or loopback', async () => {
    const deadProxy = `http://127.0.0.1:${await freePort()}`
    const { home } = await homeOnService({ 'a.md': 'A' })
    expect(
      await home.sync(SYNC, { HTTPS_PROXY: deadProxy, HTTP_PROXY: deadProxy, ALL_PROXY: deadProxy }),
    ).toMatchObject({ exitCode: 0 })
    const embedded = temporaryHome()
    embedded.write('Papers', { 'a.md': 'A' })
    expect(await embedded.sync(['Papers'], { ALL_PROXY: deadProxy })).toMatchObject({ exitCode: 0 })
    const away = temporaryHome({ url: `https://${HOST}`, token: 'token' })
    const direct = await away.shelfd(['whoami'], { HTTPS_PROXY: deadProxy, no_proxy: '.test' })
    expect(direct.stderr).toMatch(
      /library\.test: the service cannot be reached \((?:name not found|the name server does not answer)\)/,
    )
    expect(direct.stderr).not.toContain(deadProxy)
  })

  test('an unusable proxy address is a configuration error', async () => {
    const home = temporaryHome({ url: `https://${HOST}`, token: 'token' })
    expectExit(await home.shelfd(['whoami'], { ALL_PROXY: 'socks5://127.0.0.1:1080' }), 2, /ALL_PROXY.*socks5/)
    const broken = expectExit(
      await home.shelfd(['whoami'], { HTTPS_PROXY: 'http://ada:secret-word@:x' }),
      2,
      'HTTPS_PROXY',
    )
    expect(broken.stderr).not.toContain('secret-word')
  })

  test('a proxy may itself be encrypted', async () => {
    const authority = makeAuthority()
    const service = await startFaultyService({ library: 'Research' })
    const front = await startTlsFront(service.url, authority.issue({ names: [HOST] }))
    const certificate = authority.issue({ names: ['localhost'] })
    const proxy = await startProxy({ names: { [HOST]: front.port }, certificate })
    const home = temporaryHome({ url: `https://${HOST}`, token: service.token })
    const env = { HTTPS_PROXY: `https://localhost:${proxy.port}`, SHELFD_CA_FILE: authority.file }
    expect(await home.shelfd(['whoami'], env)).toMatchObject({ exitCode: 0 })
    expectExit(await home.shelfd(['whoami'], { HTTPS_PROXY: env.HTTPS_PROXY }), 7, /proxy.*Office CA/)
  })
})

describe('certificates', () => {
  /** A service with a certificate that it signed itself. */
  async function selfSigned() {
    const service = await startFaultyService()
    const certificate = makeSelfSigned(HOST)
    const front = await startTlsFront(service.url, certificate)
    const proxy = await startProxy({ names: { [HOST]: front.port } })
    const home = temporaryHome({ url: `https://${HOST}`, token: service.token })
    return { home, certificate, env: { HTTPS_PROXY: `http://127.0.0.1:${proxy.port}` } }
  }

  test('no variable of Node switches off the certificate check [F-SV-02, S-02]', async () => {
    const { home, env } = await selfSigned()
    const switches = { NODE_TLS_REJECT_UNAUTHORIZED: '0', NODE_NO_WARNINGS: '1' }
    expectExit(await home.run(['whoami'], { ...env, ...switches }), 7, /signed by itself/)
  })

  test('a self-signed certificate may be trusted', async () => {
    const { home, env, certificate } = await selfSigned()
    home.write('', { 'one.pem': certificate.cert })
    expect(await home.shelfd(['whoami'], { ...env, SHELFD_CA_FILE: 'one.pem' })).toMatchObject({ exitCode: 0 })
  })

  test('a broken certificate file is a configuration error', async () => {
    const home = temporaryHome({ url: `https://${HOST}`, token: 'token' })
    const file = join(home.path, 'text.pem')
    writeFileSync(file, 'no certificate')
    expectExit(await home.shelfd(['whoami'], { SHELFD_CA_FILE: file }), 2, /text\.pem.*no certificate/)
    writeFileSync(file, '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n')
    expect(await home.shelfd(['whoami'], { SHELFD_CA_FILE: file })).toMatchObject({ exitCode: 2 })
  })
})
