import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { type Clock, systemClock } from '../../src/foundation/clock.ts'
import { TemporaryError } from '../../src/foundation/errors.ts'
import { silentLogger } from '../../src/foundation/logger.ts'
import { PlannedDatabase } from '../../src/foundation/sqlite/open-database.ts'
import { LedgerError } from '../../src/ledger/ledger.ts'
import { openStore, type Store } from '../../src/store/open-store.ts'
import { Membership } from '../../src/sync/fleet/membership.ts'
import { MemoryLedger } from '../ledger/memory-ledger.ts'
import { manualClock } from '../support/manual-clock.ts'
import { temporaryDirectory } from '../support/temporary.ts'

const LIBRARY = { origin: 'https://library.example', tenantId: 1, remoteId: 'l' }
const LEASE_MS = 30
/** Nothing is renewed, nor settled by that, within a test. */
const LONG_LEASE_MS = 6_000

function contentOf(contentId: number) {
  const sha256 = new Uint8Array(32).fill(contentId)
  return { contentId, sha256, mime: 'text/plain', sizeBytes: 1, place: { path: 'a', remoteDirectory: '/a' } }
}

/** What differs from the host's own store, ledger and clock. */
interface Opening {
  readonly signal?: AbortSignal
  readonly state?: Store
  readonly ledger?: Pick<MemoryLedger, 'connect'>
  readonly timers?: Partial<Clock>
}

/** A host of a fleet, and its ledger. */
function temporaryHost(clock: Clock = systemClock, leaseMs = LEASE_MS) {
  const directory = temporaryDirectory()
  const store = openStore(directory)
  onTestFinished(() => store[Symbol.dispose]())
  const database = new PlannedDatabase(join(directory, 'store.db'))
  database.exec(`INSERT INTO library VALUES (1, 'https://library.example', 1, 'l', 'Library', 0);
    WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 9)
    INSERT INTO content (library_id, sha256, mime, size, state)
      SELECT 1, unhex(replace(hex(zeroblob(32)), '00', printf('%02x', i))), 'text/plain', 1, 'new' FROM n`)
  database.close()
  const shared = new MemoryLedger(clock, leaseMs)
  const warnings: string[] = []
  const logger = { ...silentLogger, warn: (message: string) => void warnings.push(message) }
  const around = { clock, random: Math.random, logger }
  const open = ({ signal = new AbortController().signal, state = store, ledger = shared, timers = {} }: Opening = {}) =>
    new Membership(
      { ...around, clock: { ...clock, ...timers }, store: state, signal },
      {
        ...{ connect: async () => ledger.connect(), name: 'nas', version: '1.0.0', limits: { newPerDay: null } },
        ...{ bootMs: clock.monotonicMs, retry: { attempts: 9, firstDelayMs: 1, maxDelayMs: 1, forMs: 60_000 } },
      },
    )
  return { directory, store, shared, open, warnings }
}

test('what has looked before the ledger went back claims nothing more, also when it tries again', async () => {
  const { shared, open } = temporaryHost()
  await using fleet = open()
  const requiredSearches = await fleet.join()
  const claim = async (id: number, after: number) =>
    (await fleet.claim(LIBRARY, [contentOf(id)], { requiredSearches: after }))[0]?.kind
  expect(await claim(1, requiredSearches)).toBe('mine')
  shared.loseCommits(1)
  for (const id of [2, 3]) await expect(claim(id, requiredSearches)).rejects.toThrow(TemporaryError)
  expect(await claim(2, await fleet.join())).toBe('mine')
})

test('a session that ended while the ledger was away is opened anew', async () => {
  const { shared, open } = temporaryHost(systemClock, LONG_LEASE_MS)
  const losses: ('call' | 'session')[] = ['call', 'call', 'call', 'call', 'call', 'session']
  const connect = () =>
    shared.connect((call) => {
      const loss = call === 'claim' ? losses.shift() : undefined
      if (loss === 'session') throw new LedgerError('session-over', 'The session is over')
      return loss
    })
  await using fleet = open({ ledger: { connect } })
  const requiredSearches = await fleet.join()
  expect(await fleet.claim(LIBRARY, [contentOf(1)], { requiredSearches })).toMatchObject([{ kind: 'mine' }])
  expect(losses).toEqual([])
})

test('a host that finds a ledger with a shorter lease renews within that lease', async () => {
  const clock = manualClock()
  let current = new MemoryLedger(clock, 60_000).connect()
  const connection = new Proxy(current, { get: (_, name) => Reflect.get(current, name) })
  await using nas = temporaryHost(clock).open({ ledger: { connect: () => connection } })
  const joined = nas.join()
  await clock.advance(0)
  await joined
  current = new MemoryLedger(clock, 10_000).connect()
  // With its first renewal the host learns that its session is over.
  await clock.advance(20_000)
  const leftMs: number[] = []
  for (let second = 0; second < 60; second += 1) {
    await clock.advance(1_000)
    leftMs.push(nas.status.leaseLeftMs)
  }
  expect(Math.min(...leftMs)).toBeGreaterThan(5_000)
})

test('what was given back is settled before it is claimed again [P3]', async () => {
  const { shared, open } = temporaryHost(systemClock, LONG_LEASE_MS)
  await using nas = open()
  await using laptop = temporaryHost().open({ ledger: shared })
  const claim = async (host: Membership) =>
    (await host.claim(LIBRARY, [contentOf(1)], { requiredSearches: await host.join() }))[0]?.kind
  expect(await claim(nas)).toBe('mine')
  await nas.giveBack([1])
  expect(await claim(nas)).toBe('mine')
  await nas.settle()
  expect(await claim(laptop)).toBe('elsewhere')
})

test('receipts do not hold up a claim, and are settled soon after it', async () => {
  const { store, shared, open } = temporaryHost(systemClock, LONG_LEASE_MS)
  const calls: string[] = []
  const connect = () =>
    shared.connect((call) => {
      calls.push(call)
      return undefined
    })
  await using nas = open({ ledger: { connect } })
  const requiredSearches = await nas.join()
  await nas.claim(LIBRARY, [contentOf(1)], { requiredSearches })
  store.write(() => nas.recordEnd(1, 'created'))
  await nas.claim(LIBRARY, [contentOf(2)], { requiredSearches })
  expect(calls).toEqual(['open', 'claim', 'claim'])
  await expect.poll(() => calls).toContain('settle')
})

test('a failover that lost nothing is not called a loss, and is looked for like one [P3, P14]', async () => {
  const { shared, open, warnings } = temporaryHost()
  {
    await using nas = open()
    const claim = async (requiredSearches: number) => await nas.claim(LIBRARY, [contentOf(1)], { requiredSearches })
    await claim(0)
    shared.loseCommits(0)
    await expect(claim(0)).rejects.toThrow(TemporaryError)
    await claim(await nas.join())
    expect(nas.requiredSearches).toBe(1)
  }
  const others = temporaryHost()
  await using laptop = others.open({ ledger: shared })
  await laptop.join()
  expect(laptop.requiredSearches).toBe(1)
  expect([...warnings, ...others.warnings]).toEqual([
    expect.stringMatching(/^PostgreSQL changed over .* has all receipts of this host, but may lack .* others/),
    expect.stringMatching(/^PostgreSQL changed over .* before this host was there: .* may lack commits of others/),
  ])
})

test('a ledger that lacks receipts of a host went back, also after a restart [P3, P14]', async () => {
  const { store, shared, open, warnings } = temporaryHost()
  {
    await using fleet = open()
    await fleet.claim(LIBRARY, [contentOf(1)], { requiredSearches: await fleet.join() })
  }
  shared.loseCommits(2)
  const stop = new AbortController()
  await using stopped = open({ signal: stop.signal })
  const joined = stopped.join()
  while (store.keyValues.get('fleet:acknowledged') !== '0') await systemClock.sleep(1)
  stop.abort(new Error('stopped'))
  await expect(joined).rejects.toThrow('stopped')
  await using fleet = open()
  await fleet.join()
  const wentBack = expect.stringMatching(/^the ledger went back: it lacks receipts of this host/)
  expect(warnings).toEqual([wentBack, wentBack])
})

test('a host that is stopped while it waits for lost sessions waits and looks with its next start', async () => {
  const { store, shared, open } = temporaryHost()
  {
    await using fleet = open()
    await fleet.claim(LIBRARY, [contentOf(1)], { requiredSearches: await fleet.join() })
  }
  // A failover that no timeline tells of.
  shared.loseCommits(2, { isSilent: true })
  const stop = new AbortController()
  await using stopped = open({ signal: stop.signal })
  const joined = stopped.join()
  while (store.keyValues.get('fleet:acknowledged') !== '0') await systemClock.sleep(1)
  stop.abort(new Error('stopped'))
  await expect(joined).rejects.toThrow('stopped')
  await using fleet = open()
  await fleet.join()
  expect(fleet.requiredSearches).toBe(1)
})

test('a copied state claims nothing while the host that it was copied from may send [P3]', async () => {
  const clock = manualClock()
  const { directory, open } = temporaryHost(clock)
  // Stopped: nothing runs there when it is due.
  const startTimer = () => ({ refresh: () => {}, [Symbol.dispose]: () => {} })
  const fleet = open({ timers: { startTimer } })
  const claim = async (host: Membership) => {
    const [result] = await host.claim(LIBRARY, [contentOf(1)], { requiredSearches: await host.join() })
    return [result?.kind, fleet.fence(1).isOpen()]
  }
  const claimed = claim(fleet)
  await clock.advance(1)
  expect(await claimed).toEqual(['mine', true])
  const target = temporaryDirectory()
  cpSync(directory, target, { recursive: true })
  using copy = openStore(target)
  const claimedByCopy = claim(open({ state: copy }))
  await clock.advance(LEASE_MS * 2 + 1)
  expect(await claimedByCopy).toEqual(['doubtful', false])
})
