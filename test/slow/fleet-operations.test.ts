import { cpSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { isIdle, startDaemon } from '../support/daemon.ts'
import { parseExposition } from '../support/exposition.ts'
import { fleetOf } from '../support/fleet-of-hosts.ts'
import { freePort } from '../support/free-port.ts'
import type { Home } from '../support/home.ts'
import { needsPostgres } from '../support/postgres.ts'

needsPostgres()

const checksOfLedger = async (host: Home): Promise<Record<string, string | null>[]> =>
  (await host.json(['doctor'])).checks.filter(({ check }: { check: string }) => check === 'ledger')

const failuresOf = async (host: Home) => (await checksOfLedger(host)).filter(({ level }) => level === 'failed')

describe('a daemon whose ledger goes away', () => {
  test('is not ready until it is back, and says since when', async () => {
    await using fleet = await fleetOf()
    const nas = await fleet.host('nas', { 'a.md': 'a' })
    const health = `127.0.0.1:${await freePort()}`
    const get = async (path: string) => await fetch(`http://${health}${path}`)
    const valuesOf = async (name: string) => {
      const family = parseExposition(await (await get('/metrics')).text()).get(name)
      return family?.samples.map(({ labels, value }) => [...Object.values(labels), value].join(' '))
    }
    const daemon = await startDaemon(nas, { SHELFD_HEALTH_LISTEN: health })
    await daemon.until('idle', isIdle)
    await expect
      .poll(() => valuesOf('shelfd_fleet_hosts'), { timeout: 20_000 })
      .toEqual(['open 1', 'closed 0', 'silent 0'])
    expect(await valuesOf('shelfd_fleet_sent_today')).toEqual(['1'])
    expect(await valuesOf('shelfd_ledger_up')).toEqual(['1'])
    expect(await valuesOf('shelfd_ledger_call_seconds')).toContain('30 claim 1')
    expect((await get('/readyz')).status).toBe(200)

    await fleet.database.refuse(true)
    const { ledger } = await daemon.until('away', (status) => status.ledger?.state === 'away')
    expect(ledger).toMatchObject({ reason: { code: 'ledger-away' }, unsettled: 0 })
    expect((await get('/healthz')).status).toBe(200)
    const ready = await get('/readyz')
    expect([ready.status, await ready.json()]).toMatchObject([
      503,
      { failing: [{ check: 'ledger', code: 'ledger-away' }] },
    ])
    expect(await valuesOf('shelfd_ledger_up')).toEqual(['0'])
    const { stdout } = await nas.shelfd(['status'])
    expect(stdout).toMatch(/^daemon: .*, the ledger is away\n {2}! The ledger .* is away: /)
    expect(stdout).toMatch(/; since \d\d:\d\d nothing new is sent \[ledger-away\]\n/)
    expect((await nas.json(['status'])).daemon.ledger).toMatchObject({ state: 'away', since: expect.any(String) })
    const doctor = await nas.shelfd(['doctor'])
    expect(doctor.exitCode).toBe(5)
    expect(doctor.stdout).toMatch(/^FAILED +ledger +The ledger .* is away: .* → check that PostgreSQL runs there/m)
    nas.write('Papers', { 'b.md': 'b' })
    await daemon.until('noticed', ({ mirrors }) => mirrors.some(({ state }) => state === 'sending'))
    expect(fleet.service.count('uploadFile')).toBe(1)

    await fleet.database.refuse(false)
    await daemon.until('back', (status) => status.ledger?.state === 'connected' && isIdle(status))
    expect(fleet.service.count('uploadFile')).toBe(2)
    expect((await get('/readyz')).status).toBe(200)
    expect((await nas.shelfd(['status'])).stdout).not.toContain('ledger')
    const { exitCode, stderr } = await daemon.stop()
    expect(exitCode).toBe(0)
    expect(stderr.match(/ warn +the ledger is away; nothing new is sent/g)).toHaveLength(1)
    expect(stderr).toMatch(/ info +the ledger is back after=/)
  })
})

test('a host that did not end its session and had no beat for long is shown as silent', async () => {
  await using fleet = await fleetOf()
  const nas = await fleet.sync('nas', { 'a.md': 'a' })
  expect((await nas.shelfd(['fleet', 'status'])).stdout).toMatch(/^nas .* closed /m)
  await fleet.database.run("UPDATE shelfd.session SET is_closed = false, seen_at = seen_at - interval '1 hour'")
  expect((await nas.shelfd(['fleet', 'status'])).stdout).toMatch(/^nas .* silent /m)
  expect((await nas.json(['fleet', 'hosts'])).hosts).toMatchObject([{ name: 'nas', isSilent: true }])
  expect((await nas.shelfd(['fleet', 'hosts'])).stdout).toMatch(/^nas .*, silent /m)
  const status = await nas.shelfd(['status', '--fleet'])
  expect(status.stdout).toMatch(/^hosts +1 silent$/m)
  expect(status.stdout, 'what it reported last is not what is now').toMatch(
    /^nas +papers +! silent; last: ✓ up to date/m,
  )
  expect((await nas.shelfd(['status', '--host', 'nas'])).stdout).toMatch(/^session +silent$/m)
  const ordered = await nas.shelfd(['fleet', 'order', 'nas', 'pause'])
  expect(ordered.stderr).toContain('"nas" takes it once shelfd runs there again')
})

describe('the doctor of a fleet', () => {
  test('names what a ledger is, and each thing that somebody should see to', async () => {
    await using fleet = await fleetOf()
    const nas = await fleet.sync('nas', { 'a.md': 'a' })
    const { database } = fleet.database.address
    expect((await checksOfLedger(nas)).map(({ level, message }) => `${level} ${message}`)).toEqual([
      expect.stringMatching(new RegExp(`^ok "${database}" at 127\\.0\\.0\\.1 answers in \\d+ ms, 1 host$`)),
      'ok not encrypted, within this computer',
      'ok PostgreSQL 18.4',
      'ok schema 1, lease 2s',
      'ok role postgres may call its functions',
      'ok fsync on, synchronous_commit on',
      expect.stringMatching(/^ok clock [+-]\d\.\d s beside PostgreSQL's$/),
    ])
    const namesake = await fleet.host('nas', { 'a.md': 'a' }, {}, {}, { lease: '15s' })
    expect((await namesake.sync([])).exitCode).toBe(0)
    await fleet.database.run(`INSERT INTO shelfd.extra_send (library_id, sha256, mime, host_id, session_id, resource_id)
      SELECT library_id, sha256, mime, host_id, 1, 'twice' FROM shelfd.content`)
    const warnings = (await checksOfLedger(namesake)).filter(({ level }) => level === 'warning')
    expect(warnings.map(({ message }) => message)).toEqual([
      'lease 2s holds for all hosts, and the configuration of this one says 15s',
      '1 file reached the service twice',
      '2 hosts have the name "nas"',
    ])
  })

  test('a copied state fails beside its living host, which is well', async () => {
    await using fleet = await fleetOf()
    const nas = await fleet.sync('nas', { 'a.md': 'a' })
    const copy = await fleet.host('nas', { 'a.md': 'a' })
    cpSync(nas.stateDir, copy.stateDir, { recursive: true })
    expect(await failuresOf(copy)).toEqual([])
    const daemon = await startDaemon(nas)
    await daemon.until('in the fleet', (status) => (status.ledger?.leaseLeftMs ?? 0) > 0)
    // Until it has been renewed, the session could be one whose answer was lost.
    await expect
      .poll(() => failuresOf(copy), { timeout: 20_000 })
      .toMatchObject([
        { code: 'host-in-use', message: expect.stringMatching(/^another process has the key of this host/) },
      ])
    expect(await failuresOf(nas)).toEqual([])
    expect((await daemon.stop()).exitCode).toBe(0)
  })

  test.each([
    [
      'a wrong password',
      { password: 'wrong' },
      /refuses role .*Correct the password \(fleet\.passwordFile or fleet\.passwordCommand\)/,
    ],
    ['an unknown database', { database: 'nowhere' }, /"nowhere" does not exist\. Create it there/],
  ] as const)('%s fails with what to do', async (_, wrong, message) => {
    await using fleet = await fleetOf()
    const { host, port } = fleet.database.address
    const more = 'database' in wrong ? { database: `postgres://postgres@${host}:${port}/${wrong.database}` } : {}
    const nas = await fleet.host('nas', { 'a.md': 'a' }, {}, {}, more)
    if ('password' in wrong) nas.write('', { password: wrong.password })
    expect(await checksOfLedger(nas)).toEqual([
      expect.objectContaining({ level: 'failed', code: 'ledger-refused', message: expect.stringMatching(message) }),
    ])
  })

  test('a database without a ledger fails with the command that creates one', async () => {
    await using fleet = await fleetOf({ isCreated: false })
    const nas = await fleet.host('nas', { 'a.md': 'a' })
    expect((await checksOfLedger(nas)).find(({ level }) => level === 'failed')).toMatchObject({
      ...{ message: 'the database holds no ledger', remedy: 'shelfd fleet init', code: 'ledger-unusable' },
    })
  })

  test('a role that may call the functions alone has all that the doctor asks for', async () => {
    await using fleet = await fleetOf({ isCreated: false })
    const nas = await fleet.host('nas', { 'a.md': 'a' })
    await fleet.database.run((await nas.shelfd(['fleet', 'init', '--sql'])).stdout)
    const user = `host_${fleet.database.address.database}`
    await fleet.database.run(`CREATE ROLE ${user} LOGIN PASSWORD 'secret' IN ROLE shelfd_host`)
    const { host, port, database } = fleet.database.address
    const own = await fleet.host(
      'nas',
      { 'a.md': 'a' },
      {},
      {},
      { database: `postgres://${user}@${host}:${port}/${database}` },
    )
    own.write('', { password: 'secret' })
    expect((await own.sync([])).exitCode).toBe(0)
    const checks = await checksOfLedger(own)
    expect(checks.filter(({ level }) => level !== 'ok')).toEqual([])
    expect(checks.map(({ message }) => message)).toContain(`role ${user} may call its functions`)
    await fleet.database.run(`DROP ROLE ${user}`)
  })
})
