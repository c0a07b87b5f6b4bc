/** A service that doesn't answer: a waiting command prints at once the cause and the deadline. */
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { configure, isIdle, startDaemon } from '../support/daemon.ts'
import { startFaultyService } from '../support/faulty-service.ts'
import { freePort } from '../support/free-port.ts'
import { expectExit, type Home, homeWithPapers } from '../support/home.ts'
import { startRawServer } from '../support/network.ts'
import { CTRL_C, openTerminal } from '../support/terminal.ts'

const SYNC = ['sync', 'Papers', '--to', 'Research']

/** A home with a file to send, to a service at this address. */
function homeOf(url: string, token = 'token'): Home {
  const home = homeWithPapers({ 'a.md': 'A' }, { url, token })
  return home
}

describe('waiting for a service', () => {
  test('an unreachable service is named with cause and deadline', async () => {
    const url = `http://127.0.0.1:${await freePort()}`
    const { stderr } = expectExit(
      await homeOf(url).shelfd([...SYNC, '--retry-for', '3s']),
      5,
      new RegExp(
        `^${url} does not answer \\(connection refused\\)\\. Trying until \\d\\d:\\d\\d:\\d\\d; next try in \\d+ s\\.$`,
        'm',
      ),
    )
    expect(stderr).toMatch(new RegExp(`shelfd: Cannot .* at ${url}: the service cannot be reached`))
  })

  test('a command of few tries names no time at which it gives up', async () => {
    const url = `http://127.0.0.1:${await freePort()}`
    const says = /does not answer \(connection refused\)\. Trying a few times; next try in \d+ s\.$/m
    const { stderr } = expectExit(await homeOf(url).shelfd(['whoami']), 5, says)
    expect(stderr).not.toContain('until')
  })

  test('a server that hangs is reported before anything failed', async () => {
    const { port } = await startRawServer()
    const url = `http://127.0.0.1:${port}`
    const report = async (args: readonly string[]) => {
      const running = homeOf(url).start(args)
      await running.logged(
        new RegExp(`^${url} does not answer \\(no answer yet for 3 s\\)\\. Trying until \\d\\d:\\d\\d`, 'm'),
      )
      running.child.kill('SIGINT')
      expect(await running.ended).toMatchObject({ exitCode: 130 })
    }
    await Promise.all([SYNC, ['whoami']].map(report))
  })

  test('a command names what it waits for on a terminal', async () => {
    const { port } = await startRawServer()
    const url = `http://127.0.0.1:${port}`
    const terminal = openTerminal(['whoami'], homeOf(url))
    await terminal.shows(`waiting for ${url} … 1 s`)
    terminal.type(CTRL_C)
    expect((await terminal.ended).exitCode).toBe(130)
  })

  test('a login page in place of the service is reported', async () => {
    await using service = await startFaultyService()
    service.answer = () => ({
      status: 200,
      body: '<!doctype html><title>Sign in</title>',
      headers: { 'content-type': 'text/html' },
    })
    const { stderr } = expectExit(
      await homeOf(service.url).shelfd([...SYNC, '--retry-for', '3s']),
      5,
      /^http:\S+ gives no usable answer \(HTML instead of JSON; perhaps a login page .*\)\. Trying/m,
    )
    expect(stderr).toMatch(/shelfd: Cannot .* at http:\S+: .*perhaps a login page/)
  })

  test('a busy service is reported with the time of its next request', async () => {
    await using service = await startFaultyService({ library: 'Research' })
    const home = homeOf(service.url, service.token)
    service.answer = () => ({ status: 503, body: { message: 'Maintenance' } })
    expectExit(
      await home.shelfd([...SYNC, '--retry-for', '3s']),
      5,
      / cannot answer requests now \(503, service unavailable\)\. Trying until/,
    )
    let asked = 0
    service.answer = () => {
      asked += 1
      return asked > 1 ? undefined : { status: 429, body: {}, headers: { 'retry-after': '2' } }
    }
    const waiting = await home.shelfd([...SYNC, '--retry-for', '10s'])
    expect(waiting.exitCode).toBe(0)
    expect(waiting.stderr).toMatch(/ asks to wait until \d\d:\d\d:\d\d \(429, too many requests\)\./)
    expect(waiting.stderr).toMatch(/^http:\S+ answers again\.$/m)
  })

  test('a wait longer than --retry-for ends the command at once', async () => {
    await using service = await startFaultyService({ library: 'Research' })
    const home = homeOf(service.url, service.token)
    service.answer = () => ({ status: 429, body: {}, headers: { 'retry-after': '3600' } })
    expectExit(
      await home.shelfd([...SYNC, '--retry-for', '5s']),
      5,
      /429 \(too many requests\); it asks to wait until [\d: -]+, which is beyond --retry-for 5s \(limits\.retryFor\); run the command again after that time/,
    )
    expect(service.requests.length).toBe(1)
    service.answer = ({ route }) =>
      route === 'uploadFile' ? { status: 429, body: {}, headers: { 'retry-after': '3600' } } : undefined
    expectExit(
      await homeOf(service.url, service.token).shelfd(SYNC),
      5,
      /beyond --retry-for 2m 00s \(limits\.retryFor\)/,
    )
  })

  test('later runs report the same wait without a request [P21]', async () => {
    await using service = await startFaultyService({ library: 'Research' })
    const home = homeOf(service.url, service.token)
    expect((await home.sync(SYNC.slice(1))).exitCode).toBe(0)
    home.write('Papers', { 'b.md': 'B' })
    service.answer = () => ({ status: 429, body: {}, headers: { 'retry-after': '3600' } })
    expect((await home.shelfd(['sync'])).exitCode).toBe(5)
    service.answer = () => undefined
    service.forget()
    const asked =
      /; it asks to wait until [\d: -]+, which is beyond --retry-for 2m 00s \(limits\.retryFor\); run the command again after that time/
    const refusal = { exitCode: 5, stderr: expect.stringMatching(asked) }
    expect(await home.shelfd(['sync'])).toMatchObject(refusal)
    expect(await home.shelfd(['sync', '-n'])).toMatchObject(refusal)
    expectExit(await home.shelfd(['report']), 5, /; it asks to wait until [\d: -]+/)
    expect(service.requests).toEqual([])
  })

  test('a short command ends at once on a long wait', async () => {
    await using service = await startFaultyService()
    service.answer = () => ({ status: 429, body: {}, headers: { 'retry-after': '600' } })
    expectExit(
      await homeOf(service.url).shelfd(['whoami']),
      5,
      /shelfd: .*429 \(too many requests\); it asks to wait until (?:\d{4}-\d\d-\d\d )?\d\d:\d\d/,
    )
  })

  test('waiting is logged in the configured format, never with -q', async () => {
    const url = `http://127.0.0.1:${await freePort()}`
    const home = homeOf(url)
    const args = [...SYNC, '--retry-for', '3s']
    const [json, withoutLog] = await Promise.all([
      home.shelfd([...args, '--log-format', 'json']),
      homeOf(url).shelfd([...args, '-q']),
    ])
    const lines = json.stderr.split('\n').flatMap((line) => (line.startsWith('{') ? [JSON.parse(line)] : []))
    expect(lines).toContainEqual(
      expect.objectContaining({
        level: 'info',
        service: url,
        code: 'service-unreachable',
        reason: 'connection refused',
      }),
    )
    expect(json.stderr).not.toMatch(/^http/m)
    expect(withoutLog.stderr).toMatch(/^shelfd: [^\n]*\n[^\n]*\n$/)
  })
})

/** A daemon that tells on this address whether it is ready. */
async function startReady() {
  const service = await startFaultyService({ library: 'Research' })
  const home = homeOf(service.url, service.token)
  const listen = `127.0.0.1:${await freePort()}`
  configure(home, { mirrors: [{ path: '~/Papers', library: 'Research', settle: '0s' }], health: { listen } })
  return { service, home, daemon: await startDaemon(home), readyUrl: `http://${listen}/readyz` }
}

describe('a service that leaves the daemon', () => {
  test('a daemon is not ready soon after its service goes away', async () => {
    const { service, home, daemon, readyUrl } = await startReady()
    await daemon.until('all is sent', ({ mirrors }) => mirrors.every(({ state }) => state === 'idle'))
    service.answer = () => ({ status: 503, body: {} })
    home.write('Papers', { 'b.md': 'B' })
    // The client's run uses a connection of its own, and the controller of the mirror waits meanwhile.
    const beside = home.start(['sync', 'Papers'])
    await beside.logged(/ cannot answer requests now \(503, service unavailable\)/)
    await daemon.until('away', ({ service: { state } }) => state === 'away')
    const ready = await fetch(readyUrl)
    expect(ready.status).toBe(503)
    expect(await ready.json()).toMatchObject({ failing: [{ check: 'service', code: 'service-unavailable' }] })
    expect(daemon.log()).toMatch(/the service is away.*503/)
    service.answer = () => undefined
    await daemon.until('back', ({ service: { state } }) => state === 'connected')
    await expect.poll(() => daemon.log()).toMatch(/the service is back/)
    expect(await beside.ended).toMatchObject({ exitCode: 0 })
  })

  test('a request for readiness discovers a refused credential', async () => {
    const { service, daemon, readyUrl } = await startReady()
    await daemon.until('all is sent', (status) => isIdle(status) && status.service.state === 'connected')
    service.answer = () => ({ status: 401, body: {} })
    const ask = async (): Promise<{ status: string }> => {
      const answer = await fetch(readyUrl)
      return JSON.parse(await answer.text())
    }
    let ready = await ask()
    while (ready.status === 'ready') {
      await sleep(50)
      ready = await ask()
    }
    expect(ready).toMatchObject({ failing: [{ check: 'credential', code: 'credential-refused' }] })
  })
})
