/** What keeps others from the dashboard: other machines, other pages, and whoever has no session. */
import { once } from 'node:events'
import { request } from 'node:http'
import { networkInterfaces } from 'node:os'
import { text } from 'node:stream/consumers'
import { expect, onTestFinished, test } from 'vitest'
import { dashboardCalls } from '../../src/contract/dashboard.ts'
import { Sessions } from '../../src/dashboard/sessions.ts'
import type { DashboardSources } from '../../src/dashboard/sources.ts'
import { startDashboard } from '../../src/dashboard/start-dashboard.ts'
import { silentLogger } from '../../src/foundation/logger.ts'
import { openStateReader } from '../../src/sync/reading/state-reader.ts'
import { manualClock } from '../support/manual-clock.ts'
import { temporaryDirectory } from '../support/temporary.ts'

/** A dashboard of nothing, and what it was asked to do. */
async function start() {
  const asked: string[] = []
  const record = (what: string) => async () => void asked.push(what)
  const reader = openStateReader(temporaryDirectory())
  onTestFinished(() => reader[Symbol.asyncDispose]())
  const refuse = async () => {
    throw new Error('Nothing is changed')
  }
  const sources: DashboardSources = {
    reader,
    version: '1.2.3',
    serviceName: 'https://library.example.com',
    log: null,
    openFleet: undefined,
    daemonStatus: async () => null,
    listMirrors: () => [],
    settings: () => ({ configFile: null, settings: [], mirrors: [] }),
    service: () => {
      throw new Error('No service is needed')
    },
    pause: record('pause'),
    resume: record('resume'),
    sync: record('sync'),
    retry: async ({ contentIds }) => contentIds.length,
    setAside: async ({ contentIds }) => contentIds.length,
    explain: async () => [],
    openPath: async () => false,
    edits: {
      rules: refuse,
      rulesEffect: refuse,
      saveRules: refuse,
      newMirror: refuse,
      checkMirror: refuse,
      addMirror: refuse,
      removeMirror: refuse,
    },
  }
  const dashboard = await startDashboard(sources, silentLogger)
  onTestFinished(() => dashboard[Symbol.asyncDispose]())
  const { origin } = dashboard
  const send = async (
    path: string,
    { method = 'POST', body = '{}', ...headers }: Readonly<Record<string, string>> = {},
  ) => {
    const outgoing = request(`${origin}${path}`, { method, headers })
    outgoing.end(method === 'POST' ? body : '')
    const [answer] = await once(outgoing, 'response')
    return { status: answer.statusCode, headers: answer.headers, body: await text(answer) }
  }
  const keyOf = (address: string) => address.slice(address.lastIndexOf('/') + 1)
  const signIn = async (key = keyOf(dashboard.createAddress())) => {
    const { status, body } = await send('/api/signIn', { body: JSON.stringify({ key }) })
    return { status, authorization: `Bearer ${JSON.parse(body).token}` }
  }
  return { ...dashboard, asked, send, signIn, keyOf }
}

const ALL = JSON.stringify({ names: [] })

test('without a session every call and the live stream are refused [S-23]', async () => {
  const { send, asked } = await start()
  for (const name of Object.keys(dashboardCalls).filter((each) => each !== 'signIn')) {
    expect([name, (await send(`/api/${name}`, { body: ALL })).status]).toEqual([name, 401])
    const invented = { body: ALL, authorization: `Bearer ${'A'.repeat(43)}` }
    expect([name, (await send(`/api/${name}`, invented)).status]).toEqual([name, 401])
  }
  expect((await send('/api/live', { method: 'GET' })).status).toBe(401)
  expect(asked).toEqual([])
})

test('a token is accepted in its header only, never in an address [S-23]', async () => {
  const { send, signIn } = await start()
  const { authorization } = await signIn()
  const token = authorization.slice('Bearer '.length)
  expect((await send('/api/settings', { authorization })).status).toBe(200)
  expect((await send(`/api/settings?token=${token}`)).status).toBe(401)
  expect((await send('/api/settings', { cookie: `token=${token}` })).status).toBe(401)
})

test('a one-time key opens one session [S-23]', async () => {
  const { createAddress, keyOf, signIn, send } = await start()
  const key = keyOf(createAddress())
  expect((await signIn(key)).status).toBe(200)
  const again = await signIn(key)
  expect(again.status).toBe(401)
  expect((await send('/api/settings', { authorization: again.authorization })).status).toBe(401)
})

test('keys end after five minutes, sessions after twelve idle hours [S-23]', async () => {
  const clock = manualClock()
  const sessions = new Sessions(clock)
  const late = sessions.createKey()
  await clock.advance(5 * 60_000)
  expect(sessions.redeem(late)).toBeUndefined()
  const token = sessions.redeem(sessions.createKey()) ?? ''
  await clock.advance(12 * 3_600_000 - 1)
  expect(sessions.isOpen(token)).toBe(true)
  await clock.advance(12 * 3_600_000 - 1)
  expect(sessions.isOpen(token)).toBe(true)
  await clock.advance(12 * 3_600_000)
  expect(sessions.isOpen(token)).toBe(false)
})

test('the oldest keys and sessions go when there are many', () => {
  const sessions = new Sessions(manualClock())
  const first = sessions.redeem(sessions.createKey()) ?? ''
  const others = Array.from({ length: 32 }, () => sessions.redeem(sessions.createKey()) ?? '')
  expect([first, others.at(-1) ?? ''].map((token) => sessions.isOpen(token))).toEqual([false, true])
  const key = sessions.createKey()
  for (let i = 0; i < 32; i += 1) sessions.createKey()
  expect(sessions.redeem(key)).toBeUndefined()
})

test('a foreign host or origin is refused, also with a session [S-23]', async () => {
  const { send, signIn, asked, origin } = await start()
  const { authorization } = await signIn()
  const port = new URL(origin).port
  for (const foreign of [
    { host: 'evil.example' },
    { host: `evil.example:${port}` },
    { host: '127.0.0.1' },
    { origin: 'https://evil.example' },
    { origin: `http://127.0.0.1:${Number(port) + 1}` },
    { origin: 'null' },
  ]) {
    const { status } = await send('/api/pause', { authorization, body: ALL, ...foreign })
    expect([foreign, status]).toEqual([foreign, 403])
    expect([foreign, (await send('/', { method: 'GET', ...foreign })).status]).toEqual([foreign, 403])
  }
  expect(asked).toEqual([])
  expect((await send('/api/pause', { authorization, body: ALL, origin })).status).toBe(200)
  expect(asked).toEqual(['pause'])
})

test('GET changes nothing [S-23]', async () => {
  const { send, signIn, asked } = await start()
  const { authorization } = await signIn()
  for (const name of Object.keys(dashboardCalls)) {
    const { status, headers } = await send(`/api/${name}`, { method: 'GET', authorization })
    expect([name, status, headers.allow]).toEqual([name, 405, 'POST'])
  }
  expect(asked).toEqual([])
})

test('the page comes with a strict policy and loads nothing from elsewhere [S-23]', async () => {
  const { send } = await start()
  const { status, headers, body } = await send('/', { method: 'GET', accept: 'application/json' })
  expect([status, headers['content-type']]).toEqual([200, 'text/html; charset=utf-8'])
  expect(headers['content-security-policy']).toBe(
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; media-src 'self'; connect-src 'self'; " +
      "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'",
  )
  expect(headers).toMatchObject({ 'x-content-type-options': 'nosniff', 'referrer-policy': 'no-referrer' })
  const named = [...body.matchAll(/(?:src|href)="([^"]*)"/g)].map(([, address = '']) => address)
  expect(named.length).toBe(3)
  let sizeBytes = body.length
  for (const address of named) {
    expect(address).toMatch(/^\/web\/dashboard-[0-9a-f]{12}\.(?:js|css|svg)$/)
    const file = await send(address, { method: 'GET' })
    expect(file.status).toBe(200)
    sizeBytes += Buffer.byteLength(file.body)
    if (address.endsWith('.js'))
      for (const name of ['preact', 'uplot']) expect(file.body).toContain(`contains ${name} `)
  }
  expect(sizeBytes).toBeLessThan(150_000)
})

test('the dashboard listens on loopback only [S-23]', async () => {
  const { origin } = await start()
  expect(new URL(origin).hostname).toBe('127.0.0.1')
  const outside = Object.values(networkInterfaces())
    .flatMap((each) => each ?? [])
    .find(({ internal, family }) => !internal && family === 'IPv4')
  if (!outside) return
  await expect(fetch(origin.replace('127.0.0.1', outside.address))).rejects.toThrow()
})

test('input of another shape is refused in words', async () => {
  const { send, signIn } = await start()
  const { authorization } = await signIn()
  const { status, body } = await send('/api/pause', { authorization, body: '{"names":"all"}' })
  expect([status, JSON.parse(body).error.message]).toEqual([400, 'Cannot read the request: names must be a list'])
})
