import { describe, expect, test } from 'vitest'
import type { SharedOutcome } from '../../../src/ledger/ledger.ts'
import { expectLost, type LedgerUnderTest, newLibrary, openTwo, TestHost } from '../test-host.ts'

export function describeFollowUps(ledger: () => LedgerUnderTest): void {
  describe('resources in ingestion', () => {
    test.each(['searchable', 'remarked', 'partial', 'failed', 'unknown'] as const)(
      'an outcome that one host settles is known to all: %s',
      async (outcome) => {
        const [nas, laptop] = await openTwo(ledger())
        await storePending(nas, 'a', 'b')
        expect(await nas.settle(['a', { kind: 'outcome', resourceId: 'r-a', outcome }])).toEqual([])
        expect(await askFor(laptop, 'a', 'b', 'c')).toEqual({
          'r-a': { kind: 'final', outcome },
          'r-b': { kind: 'elsewhere', owner: { session: expect.any(BigInt), beat: 1n } },
        })
        expect(await laptop.claim('a')).toMatchObject([{ kind: 'stored', outcome }])
      },
    )

    test('an outcome is settled with the receipt, again, or by a host that only asked', async () => {
      const [nas, laptop] = await openTwo(ledger())
      await nas.claim('a')
      await nas.settle(['a', { kind: 'created', resourceId: 'r-a', outcome: 'failed' }])
      expect(await askFor(laptop, 'a')).toEqual({ 'r-a': { kind: 'final', outcome: 'failed' } })
      await laptop.settle(['a', { kind: 'outcome', resourceId: 'r-a', outcome: 'searchable' }])
      expect(await askFor(nas, 'a')).toEqual({ 'r-a': { kind: 'final', outcome: 'searchable' } })
      await nas.settle(['a', { kind: 'adopted', resourceId: 'r-a', outcome: 'partial' }])
      expect(await askFor(nas, 'a')).toEqual({ 'r-a': { kind: 'final', outcome: 'partial' } })
      await nas.settle(['a', { kind: 'adopted', resourceId: 'r-a', outcome: 'pending' }])
      expect(await askFor(nas, 'a')).toEqual({ 'r-a': { kind: 'final', outcome: 'partial' } })
    })

    test('an outcome of another resource, or of an unknown content, changes nothing', async () => {
      const [nas, laptop] = await openTwo(ledger())
      await storePending(nas, 'a')
      const outcome: SharedOutcome = 'searchable'
      const ends = ['a', 'never sent'].map(
        (words) => [words, { kind: 'outcome', resourceId: 'other', outcome }] as const,
      )
      expect(await nas.settle(...ends)).toEqual([])
      expect(await askFor(laptop, 'a', 'never sent')).toMatchObject({ 'r-a': { kind: 'elsewhere' } })
      expect(await ledger().countExtraSends(nas.library)).toBe(0)
      expect(await laptop.claim('never sent')).toEqual([{ kind: 'mine' }])
    })

    test('a resource is polled by the host that sent it, also in its next session', async () => {
      const [nas, laptop] = await openTwo(ledger())
      await storePending(nas, 'a')
      expect(await askFor(nas, 'a')).toEqual({ 'r-a': { kind: 'mine' } })
      await nas.open()
      expect(await askFor(laptop, 'a')).toEqual({
        'r-a': { kind: 'elsewhere', owner: { session: expect.any(BigInt), beat: 0n } },
      })
      expect(await askFor(nas, 'a')).toEqual({ 'r-a': { kind: 'mine' } })
    })

    test.each(['closed', 'silent'] as const)('one whose host is %s is polled by one other', async (end) => {
      const [nas, laptop] = await openTwo(ledger())
      const third = await TestHost.open(ledger(), 'third', nas.library)
      await storePending(nas, 'a')
      if (end === 'closed') await nas.ledger.close(nas.session)
      else await laptop.close(nas)
      const answers = await Promise.all([askFor(laptop, 'a'), askFor(third, 'a')])
      expect(answers.map((answer) => answer['r-a']?.kind).sort()).toEqual(['elsewhere', 'mine'])
      const [poller, other] = answers[0]?.['r-a']?.kind === 'mine' ? [laptop, third] : [third, laptop]
      expect(await askFor(poller, 'a')).toEqual({ 'r-a': { kind: 'mine' } })
      await poller.ledger.close(poller.session)
      expect(await askFor(other, 'a')).toEqual({ 'r-a': { kind: 'mine' } })
    })

    test('of no resources, and of a library that nobody knows, there are none', async () => {
      const nas = await TestHost.open(ledger())
      expect(await nas.ledger.takeFollowUps(nas.session, newLibrary(), ['r'])).toEqual(new Map())
      expect(await askFor(nas)).toEqual({})
    })

    test('500 are asked for at once', async () => {
      const [nas, laptop] = await openTwo(ledger())
      const names = Array.from({ length: 500 }, (_, index) => `content ${index}`)
      await storePending(nas, ...names)
      expect(Object.keys(await askFor(laptop, ...names))).toHaveLength(500)
    })

    test('an answer that was lost is repeated', async () => {
      const [nas, laptop] = await openTwo(ledger())
      await storePending(nas, 'a')
      await nas.ledger.close(nas.session)
      await expectLost(ledger(), laptop, 'answer', () => askFor(laptop, 'a'))
      expect(await askFor(laptop, 'a')).toEqual({ 'r-a': { kind: 'mine' } })
    })
  })
}

async function storePending(host: TestHost, ...names: readonly string[]): Promise<void> {
  await host.claim(...names)
  await host.settle(
    ...names.map((name) => [name, { kind: 'created', resourceId: `r-${name}`, outcome: 'pending' }] as const),
  )
}

/** The answers by resource. */
async function askFor(host: TestHost, ...names: readonly string[]) {
  const ids = names.map((name) => `r-${name}`)
  return Object.fromEntries(await host.ledger.takeFollowUps(host.session, host.library, ids))
}
