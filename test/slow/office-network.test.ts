/** Office networks: the service is behind a proxy, and its certificate is of an authority that only the office trusts. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { type Authority, daysFromNow, makeAuthority, makeSelfSigned } from '../support/certificates.ts'
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

  test('a proxy that refuses is named without its password', async () => {
    const { authority, home, proxy } = await openOffice({ credentials: 'ada:right-password' })
    const address = `127.0.0.1:${proxy.port}`
    const run = (proxyUrl: string) =>
      home.shelfd(['sync', ...SYNC], { SHELFD_CA_FILE: authority.file, HTTPS_PROXY: proxyUrl })
    const wrong = expectExit(await run(`http://ada:wrong-password@${address}`), 7, `http://${address}`)
    expect(wrong.stderr).toMatch(/407.*HTTPS_PROXY/)
    expect(wrong.stderr).not.toMatch(/wrong-password/)
    proxy.refusal = 403
    expectExit(await run(`http://ada:right-password@${address}`), 7, /refuses connections to .*library\.test:443.*403/)
  })

  test('a proxy that is away is named as a temporary failure', async () => {
    const { authority, home, proxy, proxyUrl } = await openOffice()
    const env = { SHELFD_CA_FILE: authority.file, HTTPS_PROXY: proxyUrl }
    proxy.refusal = 503
    expectExit(await home.shelfd(['whoami'], env), 5, /the proxy http:\/\/127.*503/)
    const deadProxy = `http://127.0.0.1:${await freePort()}`
    const away = expectExit(
      await home.shelfd(['whoami'], { ...env, HTTPS_PROXY: deadProxy }),
      5,
      `the proxy ${deadProxy}`,
    )
    expect(away.stderr).toMatch(/connection refused/)
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
    ).toMatchObject({
      exitCode: 0,
    })
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
  /** Runs `whoami` against a service with this certificate. */
  async function ask(certificate: Parameters<typeof startTlsFront>[1], env: Record<string, string> = {}, host = HOST) {
    const service = await startFaultyService()
    const front = await startTlsFront(service.url, certificate)
    const proxy = await startProxy({ names: { [host]: front.port } })
    const home = temporaryHome({ url: `https://${host}`, token: service.token })
    return home.shelfd(['whoami'], { HTTPS_PROXY: `http://127.0.0.1:${proxy.port}`, ...env })
  }

  test('an unknown authority is refused by name, with caFile as remedy [F-SV-02]', async () => {
    const authority = makeAuthority('Office CA 7')
    const certificate = authority.issue({ names: [HOST] })
    const refused = expectExit(await ask(certificate), 7, /"Office CA 7".*service\.caFile/s)
    expect(refused.stderr).toMatch(/NODE_EXTRA_CA_CERTS/)
    expect(await ask(certificate, { SHELFD_CA_FILE: authority.file })).toMatchObject({ exitCode: 0 })
  })

  test('no variable of Node switches off the certificate check [F-SV-02, S-02]', async () => {
    const env = { NODE_TLS_REJECT_UNAUTHORIZED: '0', NODE_NO_WARNINGS: '1' }
    const home = temporaryHome({ url: `https://${HOST}`, token: 'never-sent-canary' })
    const front = await startTlsFront((await startFaultyService()).url, makeSelfSigned(HOST))
    const proxy = await startProxy({ names: { [HOST]: front.port } })
    expectExit(
      await home.run(['whoami'], { HTTPS_PROXY: `http://127.0.0.1:${proxy.port}`, ...env }),
      7,
      /signed by itself/,
    )
  })

  test('a self-signed certificate is refused, and may be trusted', async () => {
    const certificate = makeSelfSigned(HOST)
    expectExit(await ask(certificate), 7, /signed by itself.*service\.caFile/s)
    const file = join(temporaryHome().write('pem', { 'one.pem': certificate.cert }), 'one.pem')
    expect(await ask(certificate, { SHELFD_CA_FILE: file })).toMatchObject({ exitCode: 0 })
  })

  test('an expired or early certificate is refused with its dates [F-SV-02]', async () => {
    const authority = makeAuthority()
    const env = { SHELFD_CA_FILE: authority.file }
    const [from, to] = [daysFromNow(-20), daysFromNow(-10)]
    const old = await ask(authority.issue({ names: [HOST], validFrom: from, validTo: to }), env)
    expect(old).toMatchObject({ exitCode: 7 })
    expect(old.stderr).toContain(`expired on ${to.toISOString().slice(0, 10)}`)
    const early = daysFromNow(10)
    const young = await ask(authority.issue({ names: [HOST], validFrom: early }), env)
    expect(young).toMatchObject({ exitCode: 7 })
    expect(young.stderr).toContain(`valid only from ${early.toISOString().slice(0, 10)}`)
    expect(young.stderr).toMatch(/clock/)
  })

  test('a certificate of another host is refused with its names [F-SV-02]', async () => {
    const authority = makeAuthority()
    const other = await ask(authority.issue({ names: ['files.test', '*.files.test'] }), {
      SHELFD_CA_FILE: authority.file,
    })
    expect(other).toMatchObject({ exitCode: 7 })
    expect(other.stderr).toMatch(/for files\.test, \*\.files\.test and not for library\.test/)
    expect(other.stderr).toMatch(/service\.url/)
  })

  test('a broken certificate file is a configuration error', async () => {
    const home = temporaryHome({ url: `https://${HOST}`, token: 'token' })
    expectExit(await home.shelfd(['whoami'], { SHELFD_CA_FILE: 'nowhere.pem' }), 2, /nowhere\.pem.*no such file/)
    const file = join(home.path, 'text.pem')
    writeFileSync(file, 'no certificate')
    expectExit(await home.shelfd(['whoami'], { SHELFD_CA_FILE: file }), 2, /text\.pem.*no certificate/)
    writeFileSync(file, '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n')
    expect(await home.shelfd(['whoami'], { SHELFD_CA_FILE: file })).toMatchObject({ exitCode: 2 })
  })
})
