import { describe, expect, test } from 'vitest'
import { expectLedgerError, kindsOf, type LedgerUnderTest, openTwo, TestHost } from '../test-host.ts'

export function describeLostCommits(ledger: () => LedgerUnderTest): void {
  describe('a ledger that lost its last commits', () => {
    test('ends all sessions, so that each host notices it [P3]', async () => {
      const [nas, laptop] = await openTwo(ledger())
      await nas.claim('a')
      const restore = await ledger().mark()
      await restore()
      expect(await nas.ledger.renew(nas.session)).toMatchObject({ isOpen: false })
      await expectLedgerError(laptop.claim('b'), 'session-over')
      const { generation, timeline } = nas.opened
      const opened = await nas.open()
      expect([opened.generation, opened.timeline]).not.toEqual([generation, timeline])
      expect(await kindsOf(nas.claim('a'))).toEqual(['doubtful'])
    })

    test('refuses a batch whose predecessors it lacks', async () => {
      const [nas] = await openTwo(ledger())
      await nas.settle()
      const restore = await ledger().mark()
      await nas.claim('a')
      await nas.create('a')
      await restore()
      await expectLedgerError(nas.settle(), 'went-back')
      expect(await nas.open()).toMatchObject({ settled: 1n })
    })

    test('tells hosts that were never there', async () => {
      const [nas, laptop] = await openTwo(ledger())
      expect(nas.opened.hasMoved).toBe(laptop.opened.hasMoved)
      await (await ledger().mark())()
      expect((await TestHost.open(ledger(), 'pi')).opened.hasMoved).toBe(true)
    })

    test('lets a host open whose last session it lacks', async () => {
      const [nas] = await openTwo(ledger())
      const restore = await ledger().mark()
      await nas.open()
      await nas.ledger.renew(nas.session)
      await restore()
      await nas.open()
      expect(await nas.ledger.renew(nas.session)).toMatchObject({ isOpen: true })
    })

    test('takes what it lacks once more, and no end of that is odd [P3]', async () => {
      const [nas, laptop] = await openTwo(ledger())
      const restore = await ledger().mark()
      const { session } = nas
      await nas.claim('a', 'b')
      const ends = [
        ['a', { kind: 'created', resourceId: 'r1', session }],
        ['b', { kind: 'duplicate', resourceId: 'r2', session }],
      ] as const
      await nas.settle(...ends)
      await restore()
      await nas.open()
      expect(await nas.repeatSettle(...ends)).toEqual([])
      await laptop.open()
      expect(await kindsOf(laptop.claim('a', 'b'))).toEqual(['stored', 'stored'])
      expect(await ledger().countExtraSends(nas.library)).toBe(0)
    })

    test('gives no number of a session or host out again', async () => {
      const [nas, laptop] = await openTwo(ledger())
      const restore = await ledger().mark()
      await nas.open()
      await nas.claim('a')
      const lost = nas.session
      await restore()
      await laptop.open()
      expect(laptop.session).not.toBe(lost)
      expect(await nas.ledger.renew(lost)).toMatchObject({ isOpen: false })
    })
  })
}
