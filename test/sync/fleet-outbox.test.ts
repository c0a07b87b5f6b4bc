import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { type Clock, systemClock } from '../../src/foundation/clock.ts'
import { type Logger, loggerTo, silentLogger } from '../../src/foundation/logger.ts'
import { PlannedDatabase } from '../../src/foundation/sqlite/open-database.ts'
import { type Ledger, MAX_IN_A_CALL } from '../../src/ledger/ledger.ts'
import { openStore, type Store } from '../../src/store/open-store.ts'
import { Membership } from '../../src/sync/fleet/membership.ts'
import { MemoryLedger } from '../ledger/memory-ledger.ts'
import { temporaryDirectory } from '../support/temporary.ts'

const LIBRARY = { origin: 'https://library.example', tenantId: 1, remoteId: 'l' }
const RECEIPTS = 25_000

test('a host that joins with many receipts brings them in bounded steps, also after it was interrupted', async () => {
  const { store, database, addReceipts } = openHostStore()
  addReceipts(RECEIPTS, 'nas')
  const waiting = database.prepare<[], { n: number }>('SELECT count(*) AS n FROM settlement')
  let [settled, longest, calls] = [0, 0, 0]
  const connect = connectTo(new MemoryLedger(systemClock), (ends) => {
    calls += 1
    if (calls === 5) stop.abort(new Error('stopped'))
    if (calls === 30) throw new Error('interrupted')
    settled += ends
    longest = Math.max(longest, waiting.get()?.n ?? 0)
  })
  const stop = new AbortController()
  const joinFleet = async (signal?: AbortSignal) => {
    await using fleet = membershipOf(store, { connect, signal })
    await fleet.join()
  }
  await expect(joinFleet(stop.signal)).rejects.toThrow('stopped')
  expect(settled).toBeLessThanOrEqual(10_000)
  await expect(joinFleet()).rejects.toThrow('interrupted')
  await joinFleet()
  expect(settled).toBe(RECEIPTS)
  expect(longest).toBeLessThanOrEqual(10_000)
})

test('a second send is logged once by a host that settles twice at a time [P3]', async () => {
  const { laptop, seconds } = await sentByNas()
  await using fleet = membershipOf(laptop.store, laptop)
  await fleet.join()
  laptop.addReceipts(1, 'laptop')
  fleet.recordEnd(1, 'created')
  await Promise.all([fleet.settle(), fleet.settle()])
  expect(seconds).toEqual(['laptop 1'])
})

test('a second send is logged by a host whose next batch fails [P3]', async () => {
  const { laptop, seconds } = await sentByNas((ends) => {
    if (ends < MAX_IN_A_CALL) throw new Error('interrupted')
  })
  laptop.addReceipts(MAX_IN_A_CALL + 1, 'laptop')
  await using fleet = membershipOf(laptop.store, laptop)
  await expect(fleet.join()).rejects.toThrow('interrupted')
  expect(seconds).toEqual(['laptop 1'])
})

test('a ledger that settles nothing now is logged once by a host that settles twice at a time', async () => {
  const warnings: string[] = []
  const logger = loggerTo((level, message) => void (level === 'warn' && warnings.push(message)))
  const { store, addReceipts } = openHostStore()
  let isAway = false
  const connect = connectTo(new MemoryLedger(systemClock), () => {
    if (isAway) throw new Error('interrupted')
  })
  await using fleet = membershipOf(store, { connect, logger })
  await fleet.join()
  addReceipts(1, 'nas')
  fleet.recordEnd(1, 'created')
  isAway = true
  await Promise.all([fleet.settle(), fleet.settle()])
  expect(warnings).toHaveLength(1)
  isAway = false
})

test.each([
  ['quick', 1, [32, 128, 500, 500]],
  ['slow', 1_000, [32, 8, 8, 8]],
] as const)('a host claims ahead of %s uploads what it sends in some seconds [P21]', async (_, msEach, claimed) => {
  const { store, addReceipts } = openHostStore()
  let nowMs = 0
  const clock = { ...systemClock, monotonicMs: () => nowMs }
  await using fleet = membershipOf(store, { connect: connectTo(new MemoryLedger(systemClock)), clock })
  const requiredSearches = await fleet.join()
  addReceipts(2_000, 'nas')
  const place = { path: 'a', remoteDirectory: '/a' }
  const counts: number[] = []
  for (let first = 1; counts.length < claimed.length; first += counts.at(-1) ?? 0) {
    const wanted = Array.from({ length: MAX_IN_A_CALL }, (_each, index) => {
      const sha256 = Buffer.from(String(first + index).padStart(64, '0'), 'hex')
      return { contentId: first + index, sha256, mime: 'text/plain', sizeBytes: 1, place }
    })
    const atMost = () => Number.POSITIVE_INFINITY
    const answers = await fleet.claim(LIBRARY, wanted, { requiredSearches, atMost })
    const mine = wanted.filter((__, index) => answers[index]?.kind === 'mine')
    counts.push(mine.length)
    nowMs += msEach * mine.length
    store.write(() => mine.forEach(({ contentId }) => void fleet.recordEnd(contentId, 'created')))
  }
  expect(counts).toEqual(claimed)
})

test('a host asks for a whole number of contents, whatever its pace [P21]', async () => {
  const { store, addReceipts } = openHostStore()
  let nowMs = 0
  const asked: number[] = []
  const connect = async () => {
    const ledger = new MemoryLedger(systemClock).connect()
    const claim: Ledger['claim'] = (session, library, contents, limits) => {
      asked.push(limits.atMost ?? 0)
      return ledger.claim(session, library, contents, limits)
    }
    return { ...ledger, claim }
  }
  await using fleet = membershipOf(store, { connect, clock: { ...systemClock, monotonicMs: () => nowMs } })
  const requiredSearches = await fleet.join()
  addReceipts(60, 'nas')
  const contents = Array.from({ length: 60 }, (_, index) => {
    const sha256 = Buffer.from(String(index + 1).padStart(64, '0'), 'hex')
    const place = { path: 'a', remoteDirectory: '/a' }
    return { contentId: index + 1, sha256, mime: 'text/plain', sizeBytes: 1, place }
  })
  const claim = () => fleet.claim(LIBRARY, contents, { requiredSearches, atMost: () => 1_000 })
  await claim()
  nowMs = 1_000
  store.write(() => contents.slice(0, 3).forEach(({ contentId }) => void fleet.recordEnd(contentId, 'created')))
  await claim()
  expect(asked).toEqual([32, 5])
})

/** A ledger that knows one content from the host nas, and the host laptop, of whose warnings `seconds` has the resources. */
async function sentByNas(onSettle?: (ends: number) => void) {
  const shared = new MemoryLedger(systemClock)
  const [nas, laptop] = [openHostStore(), openHostStore()]
  nas.addReceipts(1, 'nas')
  await using fleet = membershipOf(nas.store, { connect: connectTo(shared) })
  await fleet.join()
  const seconds: unknown[] = []
  const logger = loggerTo((_level, message, fields) => {
    if (message === 'a content was sent twice, by two hosts') seconds.push(fields?.resourceId)
  })
  return { laptop: { ...laptop, connect: connectTo(shared, onSettle), logger }, seconds }
}

function connectTo(shared: MemoryLedger, onSettle: (ends: number) => void = () => {}): () => Promise<Ledger> {
  return async () => {
    const ledger = shared.connect()
    const settle: Ledger['settle'] = async (session, batch, ends) => {
      onSettle(ends.length)
      return await ledger.settle(session, batch, ends)
    }
    return { ...ledger, settle }
  }
}

function membershipOf(
  store: Store,
  {
    connect,
    logger = silentLogger,
    signal = new AbortController().signal,
    clock = systemClock,
  }: { connect: () => Promise<Ledger>; logger?: Logger; signal?: AbortSignal | undefined; clock?: Clock },
): Membership {
  return new Membership(
    { store, clock, random: Math.random, logger, signal },
    {
      ...{ connect, name: 'nas', version: '1.0.0', limits: { newPerDay: null } },
      ...{ bootMs: systemClock.monotonicMs, retry: { attempts: 1, firstDelayMs: 1, maxDelayMs: 1 } },
    },
  )
}

function openHostStore() {
  const directory = temporaryDirectory()
  const store = openStore(directory)
  const database = new PlannedDatabase(join(directory, 'store.db'))
  onTestFinished(() => {
    database.close()
    store[Symbol.dispose]()
  })
  database.exec("INSERT INTO library VALUES (1, 'https://library.example', 1, 'l', 'Library', 0)")
  /** Receipts of contents 1 to `count`, which are the same in each store. */
  const addReceipts = (count: number, host: string) =>
    database.exec(`WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${count})
      INSERT INTO content (library_id, sha256, mime, size, state, resource_id)
      SELECT 1, unhex(format('%064d', i)), 'text/plain', 1, 'stored', '${host} ' || i FROM n`)
  return { store, database, addReceipts }
}
