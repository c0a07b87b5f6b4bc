import { describe, expect, test } from 'vitest'
import { kindsOf, type LedgerUnderTest, newLibrary, openTwo, TestHost, wanted } from '../test-host.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const SLOT_MS = 600_000

function count(kinds: readonly string[], kind: string): number {
  return kinds.filter((one) => one === kind).length
}

function names(from: number, to: number): string[] {
  return Array.from({ length: to - from }, (_, index) => `content ${from + index}`)
}

export function describeLimits(ledger: () => LedgerUnderTest): void {
  describe('the limit of a day', () => {
    const limits = (newPerDay: number) => ({ newPerDay })

    test('holds for all hosts together, to the last content [P21]', async () => {
      const [nas, laptop] = await openTwo(ledger())
      const ours = await kindsOf(nas.claimWithin(limits(30), ...names(0, 20)))
      const theirs = await kindsOf(laptop.claimWithin(limits(30), ...names(20, 40)))
      expect(new Set(ours)).toEqual(new Set(['mine']))
      expect(theirs, 'in the order of the call').toEqual([...Array(10).fill('mine'), ...Array(10).fill('held')])
      expect(await kindsOf(nas.claimWithin(limits(30), 'one more'))).toEqual(['held'])
    })

    test('holds when many hosts claim at the same time', async () => {
      const library = newLibrary()
      const hosts = await Promise.all([0, 1, 2, 3].map((at) => TestHost.open(ledger(), `host ${at}`, library)))
      const kinds = await Promise.all(
        hosts.map((host, at) => kindsOf(host.claimWithin(limits(60), ...names(at * 50, at * 50 + 50)))),
      )
      expect([count(kinds.flat(), 'mine'), count(kinds.flat(), 'held')]).toEqual([60, 140])
    })

    test('says when it leaves room again, and does so then', async () => {
      const nas = await TestHost.open(ledger())
      const before = ledger().nowMs()
      const [, held] = await nas.claimWithin(limits(1), 'a', 'b')
      const freesAt = held?.kind === 'held' ? (held.freesAt ?? 0) : 0
      expect(freesAt).toBeGreaterThan(before + DAY_MS - 1_000)
      expect(freesAt).toBeLessThanOrEqual(ledger().nowMs() + DAY_MS + SLOT_MS)
      await ledger().passTime(23 * HOUR_MS)
      expect(await kindsOf(nas.claimWithin(limits(1), 'a', 'b'))).toContain('held')
      await ledger().passTime(HOUR_MS + 2 * SLOT_MS)
      expect(await kindsOf(nas.claimWithin(limits(1), 'a', 'b'))).toEqual(['mine', 'mine'])
    })

    test('what is held is claimed by nobody', async () => {
      const [nas, laptop] = await openTwo(ledger())
      expect(await kindsOf(nas.claimWithin(limits(0), 'a'))).toEqual(['held'])
      expect(await kindsOf(laptop.claim('a'))).toEqual(['mine'])
    })

    test('of nothing frees at no time', async () => {
      const nas = await TestHost.open(ledger())
      expect(await nas.claimWithin(limits(0), 'a')).toEqual([{ kind: 'held', freesAt: null }])
    })

    test('counts a repeated claim once', async () => {
      const nas = await TestHost.open(ledger())
      await nas.claimWithin(limits(2), 'a', 'a')
      await nas.claimWithin(limits(2), 'a')
      expect(await kindsOf(nas.claimWithin(limits(2), 'b', 'a', 'b'))).toEqual(['mine', 'mine', 'mine'])
      expect(await kindsOf(nas.claimWithin(limits(2), 'c', 'a', 'c'))).toEqual(['held', 'mine', 'held'])
    })

    test('counts what is stored, refused or elsewhere not at all', async () => {
      const [nas, laptop] = await openTwo(ledger())
      await laptop.claim('elsewhere', 'stored')
      await laptop.create('stored')
      expect((await kindsOf(nas.claimWithin(limits(3), 'stored', 'elsewhere', 'new'))).sort()).toEqual([
        'elsewhere',
        'mine',
        'stored',
      ])
    })

    test('counts what hosts without a limit claim', async () => {
      const [nas, laptop] = await openTwo(ledger())
      expect(await kindsOf(laptop.claim('a', 'b'))).toEqual(['mine', 'mine'])
      expect(count(await kindsOf(nas.claimWithin(limits(3), 'c', 'd')), 'mine')).toBe(1)
      await laptop.settle(['a', { kind: 'not-sent' }])
      expect(count(await kindsOf(nas.claimWithin(limits(3), 'e', 'f')), 'mine')).toBe(1)
    })

    test('counts what was not sent no more', async () => {
      const nas = await TestHost.open(ledger())
      await nas.claimWithin(limits(2), 'a', 'b')
      await nas.settle(['a', { kind: 'not-sent' }], ['b', { kind: 'created', resourceId: 'r' }])
      expect(count(await kindsOf(nas.claimWithin(limits(2), 'c', 'd')), 'mine')).toBe(1)
    })

    test('counts a take-over once', async () => {
      const [nas, laptop] = await openTwo(ledger())
      await nas.claimWithin(limits(2), 'a')
      // This claims one more.
      await laptop.close(nas)
      expect(await kindsOf(laptop.claimWithin(limits(3), 'a', 'b'))).toEqual(['doubtful', 'mine'])
    })

    test('is common to the libraries of a service and tenant, and to no other', async () => {
      const nas = await TestHost.open(ledger())
      const claimIn = (library = nas.library) =>
        kindsOf(nas.ledger.claim(nas.session, library, [wanted(library.remoteId)], limits(1)))
      expect(await claimIn()).toEqual(['mine'])
      expect(await claimIn(newLibrary(nas.library.origin))).toEqual(['held'])
      expect(await claimIn(newLibrary(nas.library.origin, 2))).toEqual(['mine'])
      expect(await claimIn(newLibrary())).toEqual(['mine'])
    })

    test('shows in a dry run, which uses nothing of it', async () => {
      const nas = await TestHost.open(ledger())
      const peek = () => nas.ledger.peek(nas.library, [wanted('a'), wanted('b'), wanted('c')], limits(2))
      expect(count(await kindsOf(peek()), 'held')).toBe(1)
      expect(count(await kindsOf(peek()), 'mine')).toBe(2)
      const [held] = (await peek()).filter(({ kind }) => kind === 'held')
      expect(held).toMatchObject({ freesAt: expect.any(Number) })
    })
  })

  describe('hosts that are busy with a service', () => {
    const beat = async (host: TestHost, isBusy = true, { origin } = host.library) =>
      (await host.ledger.renew(host.session, { origin, waitLeftMs: 0, isBusy })).busyOthers

    test('count for the others from their beat on [P21]', async () => {
      const [nas, laptop] = await openTwo(ledger())
      expect(await beat(nas)).toBe(0)
      expect(await beat(laptop)).toBe(1)
      expect(await beat(nas)).toBe(1)
      expect(await beat(laptop, false), 'one that is idle learns it as well').toBe(1)
      expect(await beat(nas)).toBe(0)
      expect((await nas.ledger.renew(nas.session)).busyOthers).toBe(0)
    })

    test('count for those of their own service alone', async () => {
      const [nas, laptop] = await openTwo(ledger())
      await beat(nas)
      expect(await beat(laptop, true, newLibrary())).toBe(0)
      expect(await beat(nas)).toBe(0)
    })

    test.each(['closed', 'silent'] as const)('count no more once their session is %s', async (end) => {
      const [nas, laptop] = await openTwo(ledger())
      await beat(nas)
      expect(await beat(laptop)).toBe(1)
      if (end === 'closed') await nas.ledger.close(nas.session)
      else await ledger().passTime(2 * laptop.opened.leaseMs + 1)
      expect(await beat(laptop)).toBe(0)
    })
  })

  describe('the limits of a host', () => {
    test('leave what exceeds them to others, in the order of the call', async () => {
      const [nas, laptop] = await openTwo(ledger())
      const claim = (...contents: string[]) => kindsOf(nas.claimWithin({ newPerDay: null, atMost: 2 }, ...contents))
      expect(await claim('d', 'c', 'b', 'a', 'd')).toEqual(['mine', 'mine', 'free', 'free', 'mine'])
      expect(await claim('c', 'b', 'd', 'e', 'f')).toEqual(['mine', 'mine', 'mine', 'mine', 'free'])
      expect(await kindsOf(laptop.claim('a', 'b', 'f'))).toEqual(['mine', 'elsewhere', 'mine'])
    })

    test('count neither what others have nor against the limit of a day', async () => {
      const [nas, laptop] = await openTwo(ledger())
      await laptop.claim('elsewhere', 'stored')
      await laptop.create('stored')
      const limits = { newPerDay: 5, atMost: 1 }
      const kinds = await kindsOf(nas.claimWithin(limits, 'elsewhere', 'stored', 'a', 'b'))
      expect(kinds).toEqual(['elsewhere', 'stored', 'mine', 'free'])
      expect(await kindsOf(nas.claimWithin({ newPerDay: 5, atMost: 9 }, 'c', 'd', 'e'))).toEqual([
        'mine',
        'mine',
        'held',
      ])
    })

    test('of none leave all, and what is held by the day is called so', async () => {
      const nas = await TestHost.open(ledger())
      expect(await kindsOf(nas.claimWithin({ newPerDay: null, atMost: 0 }, 'a', 'b'))).toEqual(['free', 'free'])
      expect(await kindsOf(nas.claimWithin({ newPerDay: 1, atMost: 3 }, 'a', 'b'))).toEqual(['mine', 'held'])
    })
  })
}
