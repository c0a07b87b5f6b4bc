import { once } from 'node:events'
import { get, request } from 'node:http'
import { connect, type Socket } from 'node:net'
import { networkInterfaces } from 'node:os'
import { describe, expect, onTestFinished, test } from 'vitest'
import {
  type HealthServer,
  type HealthServerOptions,
  type HealthView,
  startHealthServer,
} from '../../../src/daemon/health.ts'
import { silentLogger } from '../../../src/foundation/logger.ts'
import { daemonMirrorStatus, daemonStatus } from '../../support/daemon.ts'

async function start(
  change: Partial<HealthView> = {},
  host = '127.0.0.1',
  more: Partial<HealthServerOptions> = {},
): Promise<HealthServer> {
  const view: HealthView = {
    status: () => daemonStatus(),
    renderMetrics: async () => ({ body: 'shelfd_ready 1\n', contentType: 'text/plain; version=0.0.4; charset=utf-8' }),
    isAlive: () => true,
    ...change,
  }
  const server = await startHealthServer({ host, port: 0, view, logger: silentLogger, ...more })
  onTestFinished(() => server[Symbol.asyncDispose]())
  return server
}

/** The status of a request with this `Host`, which fetch does not let one choose. */
async function statusFor(url: string, host: string): Promise<number | undefined> {
  const [response] = await once(get(url, { headers: { host } }), 'response')
  response.resume()
  return response.statusCode
}

/** Connections that send this and then nothing more. */
async function openSilent(url: string, count: number, bytes: string): Promise<Socket[]> {
  const sockets = Array.from({ length: count }, () => connect(Number(new URL(url).port), '127.0.0.1'))
  for (const socket of sockets) {
    socket.on('error', () => {})
    onTestFinished(() => void socket.destroy())
  }
  await Promise.all(sockets.map((socket) => once(socket, 'connect')))
  for (const socket of sockets) socket.write(bytes)
  return sockets
}

/** Sends `bytes` and returns the answer up to the end of the connection. */
async function sendRaw(url: string, bytes: string): Promise<string> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  socket.end(bytes)
  let text = ''
  for await (const chunk of socket) text += String(chunk)
  return text
}

/** Its metrics are rendered when the test says so. */
async function startScraped() {
  const scrape = Promise.withResolvers<{ body: string; contentType: string }>()
  const asked = Promise.withResolvers<void>()
  const renderMetrics = () => {
    asked.resolve()
    return scrape.promise
  }
  const { url } = await start({ renderMetrics })
  return { url, scrape, asked }
}

test('/healthz is 200 while the daemon works', async () => {
  const { url } = await start()
  const answer = await fetch(`${url}/healthz`)
  expect(answer.status).toBe(200)
  expect(await answer.text()).toBe('{"status":"ok"}\n')
})

test('/healthz is 503 when the daemon hangs', async () => {
  const { url } = await start({ isAlive: () => false })
  expect((await fetch(`${url}/healthz`)).status).toBe(503)
})

test('/healthz stays 200 while the disk is full', async () => {
  const { url } = await start({ status: () => daemonStatus({ isStoreFull: true }) })
  expect((await fetch(`${url}/healthz`)).status).toBe(200)
})

test('/readyz is 200 when no check fails', async () => {
  const { url } = await start()
  const answer = await fetch(`${url}/readyz`)
  expect([answer.status, await answer.json()]).toEqual([200, { status: 'ready' }])
})

test('/readyz is 503 and names the failing checks', async () => {
  const reason = { code: 'root-mismatch', message: 'another directory' } as const
  const mirrors = [daemonMirrorStatus({ name: 'Notes\u202e', state: 'halted', reason })]
  const { url } = await start({ status: () => daemonStatus({ mirrors }) })
  const answer = await fetch(`${url}/readyz`)
  const text = await answer.text()
  expect(answer.status).toBe(503)
  expect(JSON.parse(text)).toEqual({
    status: 'not-ready',
    failing: [
      {
        check: 'mirror:Notes\u202e',
        code: 'root-mismatch',
        message: 'It is halted; an operator must act (see shelfd status)',
      },
    ],
  })
  expect(text).not.toContain('\u202e')
})

test('/readyz follows the current state of the daemon', async () => {
  let isStoreFull = true
  const { url } = await start({ status: () => daemonStatus({ isStoreFull }) })
  const before = (await fetch(`${url}/readyz`)).status
  isStoreFull = false
  expect([before, (await fetch(`${url}/readyz`)).status]).toEqual([503, 200])
})

describe('/metrics and other paths', () => {
  test('/metrics has the content type of the text format', async () => {
    const { url } = await start()
    const answer = await fetch(`${url}/metrics?debug=1`)
    expect(answer.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8')
    expect(await answer.text()).toBe('shelfd_ready 1\n')
  })

  test('a failing scrape is 500 and reveals no cause', async () => {
    const { url } = await start({ renderMetrics: () => Promise.reject(new Error('canary')) })
    const answer = await fetch(`${url}/metrics`)
    expect([answer.status, await answer.text()]).toEqual([
      500,
      '{"error":{"code":"unexpected","message":"See the daemon\'s log for the cause"}}\n',
    ])
    expect((await fetch(`${url}/healthz`)).status).toBe(200)
  })

  test('the root page lists the other paths', async () => {
    const { url } = await start()
    const text = await (await fetch(url)).text()
    for (const path of ['/healthz', '/readyz', '/metrics']) expect(text).toContain(path)
    expect(text, 'and leads people on').toContain('<code>shelfd dashboard</code>')
  })

  test('any other path is 404 in JSON', async () => {
    const { url } = await start()
    for (const path of ['/nothing', '/healthz/', '/HEALTHZ', '//metrics', '/%6detrics']) {
      const answer = await fetch(`${url}${path}`)
      expect([path, answer.status, await answer.json()]).toEqual([
        path,
        404,
        { error: { code: 'not-found', message: `There is no GET ${path}`, status: 404 } },
      ])
    }
  })

  test('a HEAD request gets the headers and no body', async () => {
    const { url } = await start()
    const answer = await fetch(`${url}/readyz`, { method: 'HEAD' })
    expect([answer.status, answer.headers.get('content-length'), await answer.text()]).toEqual([200, '19', ''])
  })
})

describe('access to the health server', () => {
  test.each(['0.0.0.0', '::', '192.168.1.5', 'example.com', '127.evil.example', '::ffff:10.0.0.1', '', '127.1'])(
    'the health server refuses to listen on %j [S-11]',
    async (host) => {
      await expect(start({}, host)).rejects.toMatchObject({ code: 'bad-configuration' })
      await expect(start({}, host)).rejects.toThrow('health.listen')
    },
  )

  test('an address in use is refused and named', async () => {
    const { url } = await start()
    const port = Number(new URL(url).port)
    const view = { status: daemonStatus, renderMetrics: () => Promise.reject(), isAlive: () => true }
    const second = startHealthServer({ host: '127.0.0.1', port, view, logger: silentLogger })
    await expect(second).rejects.toMatchObject({ name: 'UsageError', code: 'bad-configuration' })
    await expect(second).rejects.toThrow(`127.0.0.1:${port}: another program uses this port; set health.listen`)
  })

  test.each(['POST', 'PUT', 'DELETE', 'OPTIONS'])(
    '%s is refused, and the allowed methods are named [S-12]',
    async (method) => {
      const { url } = await start()
      const answer = await fetch(`${url}/metrics`, { method })
      expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'GET, HEAD'])
    },
  )

  test.each([
    'evil.example',
    'evil.example:9847',
    '127.0.0.1.evil.example',
    'localhost.evil.example',
    '10.0.0.1',
    '[::2]',
  ])('a request for the host %s is refused [S-11]', async (host) => {
    const { url } = await start()
    expect(await statusFor(`${url}/metrics`, host)).toBe(403)
  })

  test.each(['127.0.0.1:9847', 'localhost', 'LOCALHOST:80', '[::1]:9847', '127.0.0.2'])(
    'a request for the host %s is answered',
    async (host) => {
      const { url } = await start()
      expect(await statusFor(`${url}/metrics`, host)).toBe(200)
    },
  )

  test('a request without a host name is refused', async () => {
    const { url } = await start()
    expect(await sendRaw(url, 'GET /metrics HTTP/1.0\r\n\r\n')).toMatch(/^HTTP\/1\.1 403 /)
  })

  test('headers of ten kilobytes are refused', async () => {
    const { url } = await start()
    const header = `X-Long: ${'x'.repeat(10_000)}`
    expect(await sendRaw(url, `GET /healthz HTTP/1.1\r\nHost: localhost\r\n${header}\r\n\r\n`)).toMatch(
      /^HTTP\/1\.1 431 /,
    )
  })

  test('another machine cannot reach the health server [S-11]', async () => {
    const { url } = await start()
    const outside = Object.values(networkInterfaces())
      .flat()
      .find((each) => each && !each.internal && each.family === 'IPv4')
    if (!outside) return
    const socket = connect(Number(new URL(url).port), outside.address)
    await expect(once(socket, 'connect')).rejects.toThrow('ECONNREFUSED')
  })
})

describe('connections to the health server', () => {
  test('every answer has headers that keep browsers out', async () => {
    const { url } = await start()
    for (const path of ['/', '/readyz', '/nothing']) {
      const { headers } = await fetch(`${url}${path}`)
      expect(headers.get('content-security-policy')).toContain("default-src 'none'")
      expect(headers.get('x-content-type-options')).toBe('nosniff')
      expect(headers.get('cache-control')).toBe('no-store')
      expect([...headers.keys()].filter((name) => /server|powered|origin$/.test(name))).toEqual([])
    }
  })

  test('the health server closes at once beside open connections', async () => {
    const server = await start()
    const socket = connect(Number(new URL(server.url).port), '127.0.0.1')
    await once(socket, 'connect')
    await fetch(`${server.url}/healthz`)
    const ended = once(socket, 'close')
    await server[Symbol.asyncDispose]()
    await ended
    await expect(fetch(`${server.url}/healthz`)).rejects.toThrow()
    await server[Symbol.asyncDispose]()
  })

  test('a client that disconnects early does no harm', async () => {
    const { url, scrape, asked } = await startScraped()
    const impatient = request(`${url}/metrics`).on('error', () => {})
    const gone = new Promise((resolve) => impatient.on('close', resolve))
    impatient.end()
    await asked.promise
    impatient.destroy()
    await gone
    scrape.resolve({ body: 'x'.repeat(1_000_000), contentType: 'text/plain' })
    expect((await fetch(`${url}/healthz`)).status).toBe(200)
  })

  test.each([
    ['send nothing', ''],
    ['never end their request', 'GET /healthz HTTP/1.1\r\nHost: local'],
    ['never send their body', 'POST /healthz HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n'],
  ])('a probe is answered beside a hundred connections that %s [F-PR-12]', async (_, bytes) => {
    const { url } = await start()
    await openSilent(url, 100, bytes)
    expect((await fetch(`${url}/healthz`)).status).toBe(200)
    await openSilent(url, 100, bytes)
    expect((await fetch(`${url}/readyz`)).status).toBe(200)
  })

  test('a connection that stays silent too long is closed [F-PR-12]', async () => {
    const limits = { maxHeaderSize: 8_192, headersTimeout: 20, requestTimeout: 20, connectionsCheckingInterval: 10 }
    const { url } = await start({}, '127.0.0.1', { limits })
    const [silent] = await openSilent(url, 1, '')
    const [unfinished] = await openSilent(url, 1, 'GET /healthz HTTP/1.1\r\n')
    for (const socket of [silent, unfinished]) {
      socket?.resume()
      if (socket && !socket.closed) await once(socket, 'close')
    }
  })

  test('a slow scrape survives a hundred later connections', async () => {
    const { url, scrape, asked } = await startScraped()
    const scraped = fetch(`${url}/metrics`)
    await asked.promise
    await openSilent(url, 100, '')
    expect((await fetch(`${url}/healthz`)).status).toBe(200)
    scrape.resolve({ body: 'shelfd_ready 1\n', contentType: 'text/plain' })
    expect(await (await scraped).text()).toBe('shelfd_ready 1\n')
  })
})
