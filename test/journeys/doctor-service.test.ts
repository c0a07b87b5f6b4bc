/** `shelfd doctor` on the way to a configured service and at it. */
import { describe, expect, test } from 'vitest'
import { daysFromNow, makeAuthority } from '../support/certificates.ts'
import { examine, withService } from '../support/examine.ts'
import { startFaultyService } from '../support/faulty-service.ts'
import { freePort } from '../support/free-port.ts'
import { temporaryHome } from '../support/home.ts'
import { startProxy, startTlsFront } from '../support/network.ts'

describe('the doctor on the way to the service', () => {
  const HOST = 'library.test'

  async function withOffice(validTo = daysFromNow(90)) {
    const service = await startFaultyService({ library: 'Research' })
    const authority = makeAuthority()
    const front = await startTlsFront(service.url, authority.issue({ names: [HOST], validTo }))
    const proxy = await startProxy({ names: { [HOST]: front.port }, credentials: 'ada:right-password' })
    const home = temporaryHome({ url: `https://${HOST}`, token: service.token })
    const proxyUrl = `http://ada:right-password@127.0.0.1:${proxy.port}`
    return { home, proxy, env: { SHELFD_CA_FILE: authority.file, HTTPS_PROXY: proxyUrl } }
  }

  test('the doctor names the proxy and the certificate', async () => {
    const { home, proxy, env } = await withOffice()
    const found = await examine(home, env)
    expect(found).toMatchObject({ exitCode: 0, failed: [] })
    expect(found.of('proxy').message).toBe(`connections pass through http://127.0.0.1:${proxy.port} (from HTTPS_PROXY)`)
    expect(found.of('certificate').message).toMatch(/^trusted, valid until 20\d\d-/)
    expect(found.stdout).not.toContain('right-password')
  })

  test('a certificate that ends soon is a warning', async () => {
    const { home, env } = await withOffice(daysFromNow(3))
    const found = await examine(home, env)
    expect(found).toMatchObject({ exitCode: 0, verdict: 'warning' })
    expect(found.of('certificate')).toMatchObject({
      level: 'warning',
      message: expect.stringMatching(/: [23] days left$/),
    })
  })

  test('a proxy that refuses fails its own check only', async () => {
    const { home, proxy, env } = await withOffice()
    proxy.refusal = 403
    const found = await examine(home, env)
    expect(found).toMatchObject({ exitCode: 7, failed: ['proxy'] })
    expect(found.of('proxy')).toMatchObject({ code: 'proxy-refused' })
    expect(found.stdout).not.toContain('right-password')
    expect(found.of('service')).toMatchObject({ level: 'unchecked', message: 'not checked, see "proxy"' })
  })

  test('a proxy variable that is not an address fails its check', async () => {
    const { home, env } = await withOffice()
    const found = await examine(home, { ...env, HTTPS_PROXY: 'socks5://127.0.0.1:1' })
    expect(found).toMatchObject({ exitCode: 2, failed: ['proxy'] })
  })

  test('a certificate of an unknown authority fails its check', async () => {
    const { home, env } = await withOffice()
    const found = await examine(home, { HTTPS_PROXY: env.HTTPS_PROXY })
    expect(found).toMatchObject({ exitCode: 7, failed: ['certificate'] })
    expect(found.of('certificate')).toMatchObject({ code: 'certificate-refused' })
    expect(found.of('service')).toMatchObject({ message: 'not checked, see "certificate"' })
  })

  test('a missing file of authorities fails the check of certificates', async () => {
    const { home, env } = await withOffice()
    const found = await examine(home, { ...env, SHELFD_CA_FILE: 'nowhere.pem' })
    expect(found).toMatchObject({ exitCode: 2, failed: ['certificate'] })
  })
})

describe('the doctor at the service', () => {
  test('a service that does not answer fails its check', async () => {
    const { home } = await withService()
    const found = await examine(home, { SHELFD_SERVICE_URL: `http://127.0.0.1:${await freePort()}` })
    expect(found).toMatchObject({ exitCode: 5, failed: ['service'] })
    expect(found.of('service')).toMatchObject({ code: 'service-unreachable' })
    expect(found.of('clock')).toMatchObject({ message: 'not checked, see "service"' })
  })

  test('a login page in place of the service fails its check', async () => {
    const { home, service } = await withService()
    service.fault = () => 'html-page'
    expect((await examine(home)).of('service')).toMatchObject({ code: 'answer-malformed' })
  })

  test('a refused credential fails its check and is not printed', async () => {
    const { home } = await withService()
    const found = await examine(home, { SHELFD_TOKEN: 'canary-token-of-nobody' })
    expect(found).toMatchObject({ exitCode: 7, failed: ['credential'] })
    expect(found.of('service')).toMatchObject({ level: 'ok' })
    expect(found.stdout).not.toContain('canary-token')
  })

  test('a missing credential fails its check', async () => {
    const { home } = await withService()
    const found = await examine(home, { SHELFD_TOKEN: '' })
    expect(found).toMatchObject({ exitCode: 7, failed: ['credential'] })
    expect(found.of('credential')).toMatchObject({ code: 'credential-missing' })
    expect(found.of('service')).toMatchObject({ level: 'ok' })
  })

  test('a credential that may delete is a warning', async () => {
    const { home, service } = await withService()
    service.rewrite = ({ route }, body) => (route === 'checkAccess' ? { ...body, abilities: ['library.delete'] } : body)
    const { stdout } = await home.shelfd(['doctor'])
    expect(stdout).toMatch(/^warning credential .*may delete \(library\.delete[,)]/m)
  })

  test('a missing right on the library fails the check of rights', async () => {
    const { home, service } = await withService()
    service.rewrite = ({ route }, body) => {
      if (route !== 'checkAccess') return body
      return { ...body, abilities: [], libraries: [{ id: 'r', name: 'Research', access: ['read'] }] }
    }
    const found = await examine(home)
    expect(found).toMatchObject({ exitCode: 7, failed: ['rights'] })
    expect(found.of('rights')).toMatchObject({ message: 'Research: the credential lacks resource.create, update' })
  })

  test('a missing library fails, and the doctor names its creation', async () => {
    const { home } = await withService({ library: 'Elsewhere' })
    const found = await examine(home)
    expect(found).toMatchObject({ exitCode: 2, failed: ['rights'] })
    expect(found.of('rights')).toMatchObject({ remedy: 'shelfd libraries create Elsewhere' })
  })

  test('an instance without OpenAPI is a warning', async () => {
    const { home, service } = await withService()
    service.answer = ({ route }) => (route === 'description' ? { status: 404, body: {} } : undefined)
    expect((await examine(home)).of('interface')).toMatchObject({
      level: 'warning',
      message: expect.stringMatching(/shows no OpenAPI; directory: path \(default\)/),
    })
  })

  test('an OpenAPI without uploads is a warning', async () => {
    const { home, service } = await withService()
    service.rewrite = ({ route }, body) => {
      if (route !== 'description') return body
      const kept = Object.entries({ ...Object(body.paths) }).filter(([path]) => !path.endsWith('/files'))
      return { ...body, paths: Object.fromEntries(kept) }
    }
    const { level, message } = (await examine(home)).of('interface')
    expect({ level, message }).toMatchObject({ level: 'warning', message: expect.stringMatching(/lacks uploadFile,/) })
  })
})
