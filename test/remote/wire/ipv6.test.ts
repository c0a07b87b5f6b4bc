/** Services at IPv6 addresses, and at names that have addresses of both kinds. */

import dns, { type LookupAddress } from 'node:dns'
import { mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs'
import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { startEmbeddedLibrary } from '../../../src/embedded/start-embedded.ts'
import { type Authority, makeAuthority } from '../../support/certificates.ts'
import { needs } from '../../support/needs.ts'
import { temporaryDirectory } from '../../support/temporary.ts'
import { clientOf, thrownBy } from '../support.ts'

const ONE_TRY = { attempts: 1, firstDelayMs: 1, maxDelayMs: 1 }
const ACCESS = {
  tenant: { id: 1, name: 'T', slug: 't' },
  user: null,
  grant_type: 'x',
  interfaces: [],
  abilities: [],
  libraries: [],
}

const directory = realpathSync(mkdtempSync(join(tmpdir(), 'shelfd-test-')))
let authority: Authority

const isReady = needs('openssl')

beforeAll(() => {
  if (!isReady) return
  authority = makeAuthority('Office CA', directory)
})

afterAll(() => rmSync(directory, { recursive: true }))

/** A service with TLS; returns its port. */
async function serveAt(host: string, names: readonly string[]): Promise<number> {
  const server: Server = createServer(authority.issue({ names }), (_, answer) => answer.end(JSON.stringify(ACCESS)))
  await new Promise<void>((resolve) => server.listen(0, host, resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port }: AddressInfo = Object(server.address())
  return port
}

function connectTo(origin: string) {
  return clientOf(origin, { retry: ONE_TRY, authorities: [readFileSync(authority.file, 'utf8')] })
}

/** Every name has these addresses, in this order. */
function nameHas(addresses: readonly LookupAddress[]): void {
  const { lookup } = dns
  const answer = (_: string, options: { all?: boolean }, done: (...found: unknown[]) => void) => {
    if (options.all) done(null, addresses)
    else done(null, addresses[0]?.address, addresses[0]?.family)
  }
  Reflect.set(dns, 'lookup', answer)
  onTestFinished(() => void Reflect.set(dns, 'lookup', lookup))
}

describe('a service at an IPv6 address', () => {
  needs('ipv6')

  test('an IPv6 address is reached with TLS', async () => {
    await using client = connectTo(`https://[::1]:${await serveAt('::1', ['::1'])}`)
    expect(await client.checkAccess()).toMatchObject({ tenant: { id: 1 } })
  })

  test('a certificate for another address than the IPv6 one is refused', async () => {
    await using client = connectTo(`https://[::1]:${await serveAt('::1', ['127.0.0.1'])}`)
    const refused = await thrownBy(client.checkAccess())
    expect(refused).toMatchObject({ code: 'certificate-refused' })
    expect(String(refused)).toContain('is for 127.0.0.1 and not for [::1]')
  })

  test('the embedded library answers at an IPv6 address', async () => {
    await using library = await startEmbeddedLibrary({ dataDir: temporaryDirectory(), host: '::1' })
    expect(library.url).toMatch(/^http:\/\/\[::1\]:\d+$/)
    await using client = clientOf(library.url, { token: library.token })
    expect((await client.checkAccess()).libraries).toEqual([])
  })

  test('an IPv4 address that refuses leads to the IPv6 one', async () => {
    const port = await serveAt('::1', ['library.test'])
    nameHas([
      { address: '127.0.0.1', family: 4 },
      { address: '::1', family: 6 },
    ])
    await using client = connectTo(`https://library.test:${port}`)
    expect(await client.checkAccess()).toMatchObject({ tenant: { id: 1 } })
  })
})

describe('a name with addresses of both kinds', () => {
  test.each([
    ['refuses', '::1'],
    // The block of addresses that discards everything (RFC 6666): no answer, or no way.
    ['does not answer', '100::1'],
  ])('an IPv6 address that %s leads to the IPv4 one', async (_, dead) => {
    const port = await serveAt('127.0.0.1', ['library.test'])
    nameHas([
      { address: dead, family: 6 },
      { address: '127.0.0.1', family: 4 },
    ])
    await using client = connectTo(`https://library.test:${port}`)
    expect(await client.checkAccess()).toMatchObject({ tenant: { id: 1 } })
  })

  test('two refusing addresses are one refused connection', async () => {
    nameHas([
      { address: '::1', family: 6 },
      { address: '127.0.0.1', family: 4 },
    ])
    await using client = connectTo('https://library.test:9')
    const failed = await thrownBy(client.checkAccess())
    expect(failed).toMatchObject({ code: 'service-unreachable' })
    expect(String(failed)).toMatch(
      /library\.test:9: the service cannot be reached \((?:connection refused|no network)\)/,
    )
  })
})
