/** Services that demand a client certificate: a real TLS server of OpenSSL asks for it, and passes on to the embedded library. */
import { createPrivateKey } from 'node:crypto'
import { chmodSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { stringify } from 'yaml'
import { type EmbeddedLibrary, startEmbeddedLibrary } from '../../src/embedded/start-embedded.ts'
import {
  type Authority,
  type Certificate,
  daysFromNow,
  makeAuthority,
  makeSelfSigned,
} from '../support/certificates.ts'
import { examine } from '../support/examine.ts'
import { createLibrary } from '../support/faulty-service.ts'
import { expectExit, type Home, temporaryHome } from '../support/home.ts'
import { lazyService } from '../support/lazy-service.ts'
import { needs } from '../support/needs.ts'
import { startProxy } from '../support/network.ts'
import { type StrictTls, startStrictTls } from '../support/strict-tls.ts'
import { temporaryDirectory } from '../support/temporary.ts'

const directory = realpathSync(mkdtempSync(join(tmpdir(), 'shelfd-test-')))
let office: Authority
let library: EmbeddedLibrary
let front: StrictTls
let ada: Certificate

const isReady = needs('openssl', 'python3')

beforeAll(async () => {
  if (!isReady) return
  office = makeAuthority('Office CA', directory)
  ada = office.issue({ names: ['ada'] })
  library = await startEmbeddedLibrary({ dataDir: join(directory, 'library') })
  await createLibrary(library, 'Research')
  front = await startStrictTls(library.url, { authority: office, clients: office, directory })
})

afterAll(async () => {
  if (!isReady) return
  await front[Symbol.asyncDispose]()
  await library[Symbol.asyncDispose]()
  rmSync(directory, { recursive: true })
})

/** A home whose configuration names this client certificate; without one it names none. */
function homeWith(shown?: Certificate & { readonly passphrase?: string }, port = front.port): Home {
  const home = temporaryHome({ url: `https://127.0.0.1:${port}`, token: library.token })
  home.write('keys', { 'ada.pem': shown?.cert ?? '', 'ada.key': shown?.key ?? '', phrase: `${shown?.passphrase}\n` })
  for (const file of ['ada.key', 'phrase']) chmodSync(join(home.path, 'keys', file), 0o600)
  const clientCertificate = {
    certFile: '../../keys/ada.pem',
    keyFile: '../../keys/ada.key',
    ...(shown?.passphrase !== undefined && { passphraseFile: '../../keys/phrase' }),
  }
  const service = { url: home.env.SHELFD_SERVICE_URL, caFile: office.file, ...(shown && { clientCertificate }) }
  home.write('config/shelfd', { 'config.yaml': stringify({ service }) })
  return home
}

function encrypted(key: string, passphrase: string): string {
  return createPrivateKey(key).export({ type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase }).toString()
}

describe('a service that demands a client certificate', () => {
  test('a sync shows the client certificate and works [F-SV-24]', async () => {
    const home = homeWith(ada)
    home.write('Papers', { 'a.md': 'A', 'big.md': 'x'.repeat(300_000) })
    const { exitCode, mirror } = await home.sync(['Papers', '--to', 'Research'])
    expect({ exitCode, created: mirror.uploads.created }).toEqual({ exitCode: 0, created: 2 })
  })

  test('a proxied connection shows the client certificate [F-SV-24]', async () => {
    const proxy = await startProxy({ names: { 'library.test': front.port } })
    const home = homeWith(ada)
    const env = { SHELFD_SERVICE_URL: 'https://library.test', HTTPS_PROXY: `http://127.0.0.1:${proxy.port}` }
    expect(await home.shelfd(['whoami'], env)).toMatchObject({ exitCode: 0 })
    expect(proxy.targets).toContain('library.test:443')
  })

  test('an encrypted key is opened with its passphrase', async () => {
    const passphrase = 'sesam-öffne-dich'
    const home = homeWith({ cert: ada.cert, key: encrypted(ada.key, passphrase), passphrase })
    const { exitCode, stdout, stderr } = await home.shelfd(['whoami', '-vv'])
    expect({ exitCode, stderr }).toMatchObject({ exitCode: 0 })
    expect(stdout + stderr).not.toContain('sesam')
  })

  test('a daemon uses a replaced client certificate by itself', async () => {
    const old = makeSelfSigned('ada')
    const keys = temporaryHome().write('keys', { 'ada.pem': old.cert, 'ada.key': old.key })
    chmodSync(join(keys, 'ada.key'), 0o600)
    const lazy = lazyService(
      { url: `https://127.0.0.1:${front.port}`, token: library.token },
      {
        SHELFD_CA_FILE: office.file,
        SHELFD_CLIENT_CERT_FILE: join(keys, 'ada.pem'),
        SHELFD_CLIENT_KEY_FILE: join(keys, 'ada.key'),
      },
    )
    const { signal } = new AbortController()
    await expect(lazy.connect(signal)).rejects.toMatchObject({ code: 'client-certificate-refused' })
    writeFileSync(join(keys, 'ada.pem'), ada.cert)
    writeFileSync(join(keys, 'ada.key'), ada.key)
    // As a daemon does after each failure of its connection.
    await lazy.disconnect()
    await lazy.connect(signal)
  })

  test.each([
    [
      'no client certificate',
      () => homeWith(),
      /demands a client certificate, and none is configured: .*clientCertificate/,
    ],
    [
      'no client certificate with TLS 1.2',
      () => homeWith(undefined, front.port12),
      /demand a client certificate, see service\./,
    ],
    [
      'an expired client certificate',
      () => homeWith(office.issue({ names: ['ada'], validFrom: daysFromNow(-9), validTo: daysFromNow(-2) })),
      /refuses the client certificate ".*ada\.pem": it was valid until 20\d\d-\d\d-\d\d; have it renewed/,
    ],
    [
      'a client certificate of another authority',
      () => homeWith(makeAuthority('Home CA').issue({ names: ['ada'] })),
      /refuses the client certificate ".*": it does not know "Home CA" that issued it/,
    ],
    [
      'a client certificate of another authority with TLS 1.2',
      () => homeWith(makeAuthority('Home CA').issue({ names: ['ada'] }), front.port12),
      /refuses the client certificate ".*": it does not know "Home CA" that issued it/,
    ],
  ])('%s is named with what to do [F-SV-24]', async (_, make, message) => {
    const { exitCode, stderr } = await make().shelfd(['whoami'], { SHELFD_RETRY_FOR: '0' })
    expect(stderr).toMatch(message)
    expect(stderr).toContain('https://127.0.0.1:')
    expect(exitCode).toBe(/TLS connection/.test(stderr) ? 5 : 7)
  })
})

describe('the files of a client certificate', () => {
  test.each([
    [
      'a certificate file that is not there',
      { certFile: 'nowhere.pem' },
      ['nowhere.pem"', 'clientCertificate.certFile', 'no such file'],
    ],
    [
      'a certificate file without certificates',
      { certFile: 'ada.key' },
      ['ada.key"', 'certFile', 'no certificate in PEM form'],
    ],
    [
      'a key file that is not there',
      { keyFile: 'nowhere.key' },
      ['nowhere.key"', 'clientCertificate.keyFile', 'no such file'],
    ],
    ['a key file without a key', { keyFile: 'ada.pem' }, ['ada.pem"', 'keyFile', 'no private key in PEM form']],
    ['a key that is cut', { keyFile: 'cut.key' }, ['cut.key"', 'its key cannot be read']],
    [
      'a key of another certificate',
      { keyFile: 'bob.key' },
      ['bob.key"', 'not the key of the certificate in', 'ada.pem"'],
    ],
    ['an encrypted key without passphrase', { keyFile: 'secret.key' }, ['secret.key"', 'encrypted', 'passphraseFile']],
    [
      'a wrong passphrase',
      { keyFile: 'secret.key', passphraseFile: 'wrong' },
      ['secret.key"', 'the passphrase does not open its key'],
    ],
    ['an empty passphrase file', { passphraseFile: 'empty' }, ['empty"', 'passphraseFile', 'it is empty']],
    ['a key that others can read', { keyFile: 'open.key' }, ['open.key"', 'it holds a secret', 'chmod 600']],
    [
      'a passphrase that others can read',
      { passphraseFile: 'open.key' },
      ['open.key"', 'it holds a secret', 'chmod 600'],
    ],
    ['a certificate that others can write', { certFile: 'open.pem' }, ['open.pem"', 'decide', 'chmod go-w']],
  ])('%s is a configuration error [F-SV-24]', async (_, wrong, says) => {
    const home = homeWith(ada)
    const bob = makeSelfSigned('bob')
    const key = encrypted(ada.key, 'right')
    const files = {
      'bob.key': bob.key,
      'secret.key': key,
      'cut.key': ada.key.slice(0, 60) + ada.key.slice(90),
      wrong: 'wrong\n',
      empty: '\n',
    }
    home.write('keys', { ...files, 'open.key': ada.key, 'open.pem': ada.cert })
    for (const file of Object.keys(files)) chmodSync(join(home.path, 'keys', file), 0o600)
    chmodSync(join(home.path, 'keys/ada.pem'), 0o600)
    chmodSync(join(home.path, 'keys/open.key'), 0o644)
    chmodSync(join(home.path, 'keys/open.pem'), 0o666)
    const named = Object.entries(wrong).map(([setting, file]) => {
      const variable = { certFile: 'CERT', keyFile: 'KEY', passphraseFile: 'PASSPHRASE' }[setting]
      return [`SHELFD_CLIENT_${variable}_FILE`, join(home.path, 'keys', file)]
    })
    const { stderr } = expectExit(await home.shelfd(['whoami'], Object.fromEntries(named)), 2, /^shelfd: Cannot use "/)
    for (const part of says) expect(stderr).toContain(part)
    expect(stderr).not.toMatch(/ERR_|OSSL|undefined/)
  })

  test('a certificate without its key is a configuration error', async () => {
    expectExit(
      await temporaryHome({ url: 'https://127.0.0.1:9', token: 'token' }).shelfd(['whoami'], {
        SHELFD_CLIENT_CERT_FILE: 'ada.pem',
      }),
      2,
      'clientCertificate.keyFile',
    )
  })

  test('config show has the files of the client certificate, and none of their text', async () => {
    const home = homeWith({ ...ada, passphrase: 'sesam-canary' })
    const { stdout } = await home.shelfd(['config', 'show'])
    expect(stdout).toMatch(new RegExp(`certFile: ${home.path}/keys/ada.pem.*\\n.*keyFile: ${home.path}/keys/ada.key`))
    expect(stdout).not.toMatch(/sesam-canary|PRIVATE KEY/)
  })
})

describe('the doctor and the wizard with a client certificate', () => {
  test('the doctor says how long the client certificate is valid', async () => {
    const good = await examine(homeWith(ada))
    expect(good.stdout).toMatch(/client certificate valid until 20/)
    expect(good).toMatchObject({ failed: [] })
    const ending = await examine(homeWith(office.issue({ names: ['ada'], validTo: daysFromNow(3) })))
    expect(ending).toMatchObject({ exitCode: 0, verdict: 'warning' })
    expect(ending.stdout).toMatch(/client certificate valid until .*: [23] days left/)
  })

  test('the doctor names a missing client certificate', async () => {
    const found = await examine(homeWith())
    expect(found).toMatchObject({ exitCode: 7, failed: ['service'] })
    expect(found.of('service')).toMatchObject({ code: 'client-certificate-refused' })
  })

  test('init takes the client certificate by flags and writes it', async () => {
    const home = temporaryHome()
    const keys = temporaryDirectory()
    writeFileSync(join(keys, 'ada.pem'), ada.cert)
    for (const [file, text] of [
      ['ada.key', ada.key],
      ['token', library.token],
    ] as const) {
      writeFileSync(join(keys, file), text, { mode: 0o600 })
    }
    home.write('Papers', { 'a.md': 'A' })
    const service = [
      '--service-url',
      `https://127.0.0.1:${front.port}`,
      '--ca-file',
      office.file,
      '--library',
      'Research',
    ]
    const files = [
      '--token-file',
      join(keys, 'token'),
      '--client-cert-file',
      join(keys, 'ada.pem'),
      '--client-key-file',
      join(keys, 'ada.key'),
    ]
    const made = await home.shelfd(['init', 'Papers', ...service, ...files])
    expect(made).toMatchObject({ exitCode: 0 })
    expect(await home.shelfd(['whoami'])).toMatchObject({ exitCode: 0 })
  })
})
