import { describe, expect, test } from 'vitest'
import {
  expectLedgerError,
  expectLost,
  type LedgerUnderTest,
  NO_LIMIT,
  newLibrary,
  openTwo,
  SILENT_MS,
  TestHost,
  wanted,
} from '../test-host.ts'

export function describeSessions(ledger: () => LedgerUnderTest): void {
  describe('sessions', () => {
    test('a new host gets a session, the lease of all hosts, and has settled nothing', async () => {
      const { opened } = await TestHost.open(ledger())
      expect(opened).toMatchObject({ settled: 0n, leaseMs: 60_000, generation: expect.stringMatching(/./) })
      expect(opened.timeline).toBeGreaterThan(0)
    })

    test('hosts and sessions have numbers of their own, and a host keeps its own', async () => {
      const [nas, laptop] = await openTwo(ledger())
      const { session, hostId } = nas.opened
      expect(laptop.opened.hostId).not.toBe(hostId)
      expect(laptop.session).not.toBe(session)
      expect(await nas.open()).toMatchObject({ hostId })
      expect(nas.session).not.toBe(session)
    })

    test('all hosts see one generation and timeline', async () => {
      const [nas, laptop] = await openTwo(ledger())
      const { generation, timeline } = nas.opened
      expect(laptop.opened).toMatchObject({ generation, timeline })
    })

    test('opening closes the previous session: it is not renewed, and claims nothing [P3, P16]', async () => {
      const nas = await TestHost.open(ledger())
      const before = nas.session
      await nas.open()
      expect(await nas.ledger.renew(before)).toMatchObject({ isOpen: false })
      expect(await nas.ledger.renew(nas.session)).toMatchObject({ isOpen: true })
      await expectLedgerError(nas.ledger.claim(before, nas.library, [wanted('a')], NO_LIMIT), 'session-over')
      await expectLedgerError(nas.ledger.takeFollowUps(before, nas.library, ['r']), 'session-over')
    })

    test('a copied state is noticed: its previous session is not the one that the host has [P16]', async () => {
      const nas = await TestHost.open(ledger())
      const copied = nas.session
      await nas.open()
      await nas.ledger.renew(nas.session)
      await expectLedgerError(nas.ledger.open({ key: nas.key, name: 'copy', version: '1' }, copied), 'host-in-use')
      await expectLedgerError(nas.ledger.open({ key: nas.key, name: 'copy', version: '1' }, null), 'host-in-use')
      expect(await nas.ledger.renew(nas.session), 'the living host goes on').toMatchObject({ isOpen: true })
    })

    test('a copied state is noticed by its place, also if it comes first [P16]', async () => {
      const nas = await TestHost.open(ledger())
      const identity = { key: nas.key, name: 'nas', version: '1' }
      const openAt = (place?: string) => nas.ledger.open({ ...identity, place }, nas.session)
      nas.opened = await openAt('here')
      await nas.ledger.close(nas.session)
      await expectLedgerError(openAt('there'), 'host-elsewhere')
      nas.opened = await openAt()
      nas.opened = await openAt('here')
      await nas.ledger.renew(nas.session)
      // At its own place it is no copy, whatever the ledger has lost.
      nas.opened = await nas.ledger.open({ ...identity, place: 'here' }, 77n)
      expect(await nas.ledger.renew(nas.session)).toMatchObject({ isOpen: true })
    })

    test('of two copies at the same place, as in images of a disk, one is refused [P16]', async () => {
      const nas = await TestHost.open(ledger())
      const identity = { key: nas.key, name: 'nas', version: '1', place: 'here' }
      const open = async (previous: bigint, isRestored = false) => {
        const { session } = await nas.ledger.open({ ...identity, isRestored }, previous)
        expect(await nas.ledger.renew(session)).toMatchObject({ isOpen: true })
        return session
      }
      const copied = await open(nas.session)
      const first = await open(copied)
      await expectLedgerError(open(copied), 'host-in-use')
      const last = await open(first)
      // An older copy is taken for the host of a ledger that went back, and the host itself is refused.
      await open(copied)
      await expectLedgerError(open(last), 'host-in-use')
      await open(last, true)
    })

    test.each(['call', 'answer'] as const)('a lost %s of an opening is repeated', async (loss) => {
      const nas = await TestHost.open(ledger())
      const previous = nas.session
      await expectLost(ledger(), nas, loss, () => nas.open(previous))
      await nas.open(previous)
      expect(await nas.ledger.renew(nas.session)).toMatchObject({ isOpen: true })
    })

    test('a lost first opening is repeated', async () => {
      const nas = await TestHost.open(ledger())
      const key = crypto.randomUUID()
      const open = () => nas.ledger.open({ key, name: 'new', version: '1' }, null)
      await expectLost(ledger(), nas, 'answer', open)
      expect(await open()).toMatchObject({ settled: 0n })
    })

    test('an opening is no repetition once the session was renewed', async () => {
      const nas = await TestHost.open(ledger())
      const previous = nas.session
      await nas.open(previous)
      await nas.ledger.renew(nas.session)
      await expectLedgerError(nas.open(previous), 'host-in-use')
    })

    test('an opening is no repetition once the session has claimed', async () => {
      const nas = await TestHost.open(ledger())
      const previous = nas.session
      await nas.open(previous)
      await nas.claim('a')
      await expectLedgerError(nas.open(previous), 'host-in-use')
    })

    test('of two that open with one key, the one that opened first is over [P16]', async () => {
      const nas = await TestHost.open(ledger())
      const previous = nas.session
      const first = (await nas.open(previous)).session
      await nas.open(previous)
      expect(await nas.ledger.renew(first)).toMatchObject({ isOpen: false })
    })

    test('a host that the ledger does not know opens, whatever its previous session', async () => {
      const nas = await TestHost.open(ledger())
      const key = crypto.randomUUID()
      expect(await nas.ledger.open({ key, name: 'of another ledger', version: '1' }, 77n)).toMatchObject({
        settled: 0n,
      })
    })

    test('the session of another ledger is not renewed', async () => {
      const nas = await TestHost.open(ledger())
      expect(await nas.ledger.renew(12_345n)).toEqual({ isOpen: false, orders: [], waitMs: 0, busyOthers: 0 })
    })

    test('what others see of a session does not let them act for its host [S-30]', async () => {
      const [nas, laptop] = await openTwo(ledger())
      await nas.claim('a')
      const [seen] = await laptop.claim('a')
      const stolen = seen?.kind === 'elsewhere' ? (seen.owner?.session ?? 0n) : 0n
      const end = { ...wanted('a'), session: stolen, library: nas.library, kind: 'not-sent' as const }
      await expectLedgerError(laptop.ledger.settle(stolen, 1n, [end]), 'session-over')
      await expectLedgerError(laptop.ledger.claim(stolen, nas.library, [wanted('b')], NO_LIMIT), 'session-over')
      await expectLedgerError(laptop.ledger.takeFollowUps(stolen, nas.library, ['r']), 'session-over')
      const nothing = { sentInDay: 0, mirrors: [], problems: [], runs: [] }
      await expectLedgerError(laptop.ledger.publish(stolen, nothing), 'session-over')
      expect(await laptop.ledger.renew(stolen)).toMatchObject({ isOpen: false })
      await laptop.ledger.close(stolen)
      expect(await nas.ledger.renew(nas.session)).toMatchObject({ isOpen: true })
      await laptop.settle(['a', { kind: 'not-sent', session: stolen }])
      expect(await laptop.claim('a')).toMatchObject([{ kind: 'elsewhere', host: 'nas' }])
    })

    test('a renewal adds a beat, which others see', async () => {
      const [nas, laptop] = await openTwo(ledger())
      await nas.claim('a')
      const [before] = await laptop.claim('a')
      await nas.ledger.renew(nas.session)
      const [after] = await laptop.claim('a')
      const beatOf = (result: typeof before) => (result?.kind === 'elsewhere' ? (result.owner?.beat ?? -1n) : -1n)
      expect(beatOf(after)).toBe(beatOf(before) + 1n)
    })

    test('a silent session is closed once, by its beat', async () => {
      const [nas, laptop] = await openTwo(ledger())
      await nas.claim('a')
      const [seen] = await laptop.claim('a')
      const owner = seen?.kind === 'elsewhere' ? seen.owner : undefined
      if (!owner) throw new Error('no owner')
      expect(await laptop.ledger.closeSilent(owner), 'the ledger has seen it a moment ago').toBe(false)
      await ledger().passTime(SILENT_MS)
      expect(await laptop.ledger.closeSilent(owner)).toBe(true)
      expect(await laptop.ledger.closeSilent(owner)).toBe(false)
      expect(await nas.ledger.renew(nas.session)).toEqual({ isOpen: false, orders: [], waitMs: 0, busyOthers: 0 })
      await expectLedgerError(nas.claim('b'), 'session-over')
    })

    test('a session that was renewed meanwhile is not closed [P3]', async () => {
      const [nas, laptop] = await openTwo(ledger())
      await nas.claim('a')
      const [seen] = await laptop.claim('a')
      const owner = seen?.kind === 'elsewhere' ? seen.owner : undefined
      if (!owner) throw new Error('no owner')
      await nas.ledger.renew(nas.session)
      expect(await laptop.ledger.closeSilent(owner)).toBe(false)
      expect(await nas.ledger.renew(nas.session)).toMatchObject({ isOpen: true })
    })

    test('a renewal and a closing at the same time exclude each other [P3]', async () => {
      for (let round = 0; round < 10; round += 1) {
        const [nas, laptop] = await openTwo(ledger())
        await nas.claim(`${round}`)
        const [seen] = await laptop.claim(`${round}`)
        const owner = seen?.kind === 'elsewhere' ? seen.owner : undefined
        if (!owner) throw new Error('no owner')
        await ledger().passTime(SILENT_MS)
        const [{ isOpen }, isClosed] = await Promise.all([
          nas.ledger.renew(nas.session),
          laptop.ledger.closeSilent(owner),
        ])
        expect(isClosed).toBe(!isOpen)
      }
    })

    test('a host whose session was closed opens another one', async () => {
      const [nas, laptop] = await openTwo(ledger())
      await laptop.close(nas)
      await nas.open()
      expect(await nas.ledger.renew(nas.session)).toMatchObject({ isOpen: true })
    })

    test('answers name a host as it is called now', async () => {
      const [nas, laptop] = await openTwo(ledger())
      nas.name = 'archive ünder\0 the stairs'
      await nas.open()
      await nas.claim('a')
      expect(await laptop.claim('a')).toMatchObject([
        { kind: 'elsewhere', host: expect.stringMatching(/^archive ünder. the stairs$/s) },
      ])
    })
  })

  describe('what a service asked one host to wait', () => {
    test('others learn with their next beat, and never as longer than it was', async () => {
      const [nas, laptop] = await openTwo(ledger())
      const { origin } = nas.library
      const ask = async (host: TestHost, waitLeftMs = 0) =>
        (await host.ledger.renew(host.session, { origin, waitLeftMs, isBusy: false })).waitMs
      expect(await ask(laptop)).toBe(0)
      expect(await ask(nas, 60_000)).toBeGreaterThan(50_000)
      const learnt = await ask(laptop)
      expect(learnt).toBeGreaterThan(50_000)
      expect(learnt).toBeLessThanOrEqual(60_000)
      expect(await ask(laptop, 5_000), 'a shorter one changes nothing').toBeGreaterThan(50_000)
      expect(await ask(laptop, 90_000)).toBeGreaterThan(80_000)
      expect(await ask(nas)).toBeLessThanOrEqual(90_000)
    })

    test('is nothing to hosts of other services', async () => {
      const [nas, laptop] = await openTwo(ledger())
      await nas.ledger.renew(nas.session, { origin: nas.library.origin, waitLeftMs: 60_000, isBusy: false })
      const use = { origin: newLibrary().origin, waitLeftMs: 0, isBusy: false }
      expect(await laptop.ledger.renew(laptop.session, use)).toMatchObject({ waitMs: 0 })
      expect(await laptop.ledger.renew(laptop.session)).toMatchObject({ waitMs: 0 })
    })
  })

  describe('orders', () => {
    test('a renewal brings the orders that somebody gave, once', async () => {
      const nas = await TestHost.open(ledger())
      expect(await ledger().giveOrder(nas.opened.hostId, { kind: 'pause', mirror: 'Papers' })).toBe(true)
      expect(await ledger().giveOrder(nas.opened.hostId, { kind: 'sync', mirror: null })).toBe(true)
      const orders = [
        { kind: 'pause', mirror: 'Papers' },
        { kind: 'sync', mirror: null },
      ]
      expect(await nas.ledger.renew(nas.session)).toMatchObject({ isOpen: true, orders })
      expect(await nas.ledger.renew(nas.session)).toMatchObject({ isOpen: true, orders: [] })
      expect(await nas.ledger.renew(nas.session)).toMatchObject({ isOpen: true, orders: [] })
    })

    test('a renewal whose answer was lost brings them again', async () => {
      const [nas, laptop] = await openTwo(ledger())
      await ledger().giveOrder(nas.opened.hostId, { kind: 'resume', mirror: null })
      await expectLost(ledger(), nas, 'answer', () => nas.ledger.renew(nas.session))
      expect((await laptop.ledger.renew(laptop.session)).orders).toEqual([])
      expect((await nas.ledger.renew(nas.session)).orders).toEqual([{ kind: 'resume', mirror: null }])
    })

    test('there are none for a host that the ledger does not know', async () => {
      expect(await ledger().giveOrder(0, { kind: 'pause', mirror: null })).toBe(false)
    })
  })
}
