import { describe, expect, test } from 'vitest'
import {
  expectLedgerError,
  expectLost,
  kindsOf,
  type LedgerUnderTest,
  newLibrary,
  openTwo,
  TestHost,
  wanted,
} from '../test-host.ts'

export function describeEnds(ledger: () => LedgerUnderTest): void {
  describe('ends of uploads', () => {
    test.each(['created', 'duplicate', 'adopted'] as const)('what ended as %s is stored for all', async (kind) => {
      const [nas, laptop] = await openTwo(ledger())
      await nas.claim('a')
      expect(await nas.settle(['a', { kind, resourceId: 'r1', outcome: 'pending' }])).toEqual([])
      const stored = { kind: 'stored', resourceId: 'r1', outcome: 'pending', host: 'nas' }
      expect(await laptop.claim('a')).toEqual([stored])
      expect(await nas.claim('a')).toEqual([stored])
      expect(await ledger().countExtraSends(nas.library)).toBe(0)
    })

    test('receipts and outcomes of one batch are settled in its order', async () => {
      const nas = await TestHost.open(ledger())
      await nas.claim('a', 'b')
      const outcomes = await nas.settle(
        ['b', { kind: 'created', resourceId: 'r2', outcome: 'pending' }],
        ['a', { kind: 'created', resourceId: 'r1', outcome: 'pending' }],
        ['a', { kind: 'outcome', resourceId: 'r1', outcome: 'partial' }],
        ['b', { kind: 'outcome', resourceId: 'other', outcome: 'searchable' }],
        ['a', { kind: 'outcome', resourceId: 'r1', outcome: 'failed' }],
      )
      expect(outcomes).toEqual([])
      expect(await nas.claim('a', 'b')).toMatchObject([{ outcome: 'failed' }, { outcome: 'pending' }])
    })

    test('what was not sent is free', async () => {
      const [nas, laptop] = await openTwo(ledger())
      await nas.claim('a')
      await nas.settle(['a', { kind: 'not-sent' }])
      expect(await kindsOf(laptop.claim('a'))).toEqual(['mine'])
    })

    test('what was not sent stays in doubt until somebody has looked', async () => {
      const [nas, laptop] = await openTwo(ledger())
      const third = await TestHost.open(ledger(), 'third', nas.library)
      await nas.claim(wanted('a', '/1'))
      await laptop.close(nas)
      await laptop.claim(wanted('a', '/2'))
      await laptop.settle(['a', { kind: 'not-sent' }])
      expect(await third.claim(wanted('a', '/2'))).toMatchObject([
        { kind: 'doubtful', places: [{ path: '/1' }, { path: '/2' }] },
      ])
    })

    test('an upload in doubt is looked for by its own session, and by the next one', async () => {
      const [nas, laptop] = await openTwo(ledger())
      await nas.claim('a')
      await nas.settle(['a', { kind: 'doubt' }])
      expect(await nas.claim('a')).toEqual([{ kind: 'doubtful', places: [wanted('a').place], host: 'nas' }])
      expect(await kindsOf(laptop.claim('a'))).toEqual(['elsewhere'])
      await laptop.close(nas)
      expect(await kindsOf(laptop.claim('a'))).toEqual(['doubtful'])
    })

    test('an end that comes before anybody took the claim over is not late', async () => {
      const [nas, laptop] = await openTwo(ledger())
      await nas.claim('a')
      await laptop.close(nas)
      expect(await nas.create('a', 'r1')).toEqual([])
      expect(await laptop.claim('a')).toMatchObject([{ kind: 'stored', resourceId: 'r1' }])
    })

    test('an end of an earlier session of the host counts', async () => {
      const nas = await TestHost.open(ledger())
      await nas.claim('a')
      const { session } = nas
      await nas.open()
      expect(await nas.settle(['a', { kind: 'created', resourceId: 'r1', session }])).toEqual([])
      expect(await kindsOf(nas.claim('a'))).toEqual(['stored'])
    })

    test('an end after a take-over is late, and taken all the same', async () => {
      const [nas, laptop] = await openTwo(ledger())
      await nas.claim('a', 'b')
      await laptop.close(nas)
      await laptop.claim('a')
      expect(await nas.create('a', 'r1')).toEqual([{ index: 0, isLate: true, resourceId: undefined }])
      expect(await laptop.claim('a')).toMatchObject([{ kind: 'stored', resourceId: 'r1' }])
      const late = [{ index: 0, isLate: true, resourceId: undefined }]
      expect(await laptop.settle(['a', { kind: 'adopted', resourceId: 'r1' }])).toEqual(late)
      expect(await ledger().countExtraSends(nas.library)).toBe(0)
    })

    test('a late end with another resource is a second send, which is noticed [P3]', async () => {
      const [nas, laptop] = await openTwo(ledger())
      await nas.claim('a')
      await laptop.close(nas)
      await laptop.claim('a')
      expect(await laptop.create('a', 'r2')).toEqual([])
      expect(await nas.create('a', 'r1')).toEqual([{ index: 0, isLate: true, resourceId: 'r2' }])
      expect(await laptop.claim('a')).toMatchObject([{ resourceId: 'r2' }])
      expect(await ledger().countExtraSends(nas.library)).toBe(1)
    })

    test('a second send is counted once if its host repeats the receipt [P3]', async () => {
      const [nas, laptop] = await openTwo(ledger())
      await nas.claim('a')
      await laptop.close(nas)
      await laptop.claim('a')
      await laptop.create('a', 'r2')
      await nas.create('a', 'r1')
      for (const kind of ['adopted', 'duplicate'] as const)
        expect(await nas.settle(['a', { kind, resourceId: 'r1' }])).toEqual([])
      expect(await nas.create('a', 'r3')).toEqual([{ index: 0, isLate: true, resourceId: 'r2' }])
      expect(await ledger().countExtraSends(nas.library)).toBe(2)
    })

    test('a second send is counted once if two hosts report it at once [P3]', async () => {
      const [nas, laptop] = await openTwo(ledger())
      const third = await TestHost.open(ledger(), 'third', nas.library)
      const names = Array.from({ length: 50 }, (_, index) => `content ${index}`)
      const asTo = (kind: 'created' | 'adopted', of: string) =>
        names.map((name) => [name, { kind, resourceId: `${name} ${of}` }] as const)
      await nas.settle(...asTo('created', 'first'))
      await Promise.all([laptop.settle(...asTo('created', 'second')), third.settle(...asTo('adopted', 'second'))])
      expect(await ledger().countExtraSends(nas.library)).toBe(names.length)
    })

    test('a duplicate that its host repeats is no second send', async () => {
      const nas = await TestHost.open(ledger())
      await nas.claim('a')
      for (const _ of ['first', 'repeated'])
        expect(await nas.settle(['a', { kind: 'duplicate', resourceId: 'r1' }])).toEqual([])
      expect(await ledger().countExtraSends(nas.library)).toBe(0)
    })

    test('the owner learns of a second send too, if the late end was first', async () => {
      const [nas, laptop] = await openTwo(ledger())
      await nas.claim('a')
      await laptop.close(nas)
      await laptop.claim('a')
      await nas.create('a', 'r1')
      expect(await laptop.create('a', 'r2')).toEqual([{ index: 0, isLate: true, resourceId: 'r1' }])
      expect(await ledger().countExtraSends(nas.library)).toBe(1)
    })

    test('a late end that frees the content does not touch the claim of its new owner', async () => {
      const [nas, laptop] = await openTwo(ledger())
      await nas.claim('a')
      await laptop.close(nas)
      await laptop.claim('a')
      const odd = [{ index: 0, isLate: true, resourceId: undefined }]
      expect(await nas.settle(['a', { kind: 'not-sent' }])).toEqual(odd)
      expect(await nas.settle(['a', { kind: 'absent' }])).toEqual(odd)
      expect(await nas.settle(['a', { kind: 'doubt' }])).toEqual(odd)
      expect(await kindsOf(laptop.claim('a'))).toEqual(['doubtful'])
    })

    test('a duplicate after doubt is a second send', async () => {
      const nas = await TestHost.open(ledger())
      await nas.claim('a', 'b')
      await nas.settle(['a', { kind: 'doubt' }])
      await nas.settle(['a', { kind: 'absent' }])
      expect(
        await nas.settle(
          ['a', { kind: 'duplicate', resourceId: 'r1' }],
          ['b', { kind: 'duplicate', resourceId: 'r2' }],
        ),
      ).toEqual([])
      expect(await ledger().countExtraSends(nas.library)).toBe(1)
    })

    test('a duplicate of what another host took over and stored is a second send [P3]', async () => {
      const [nas, laptop] = await openTwo(ledger())
      await nas.claim('a')
      await laptop.close(nas)
      await laptop.claim('a')
      await laptop.create('a', 'r1')
      expect(await nas.settle(['a', { kind: 'duplicate', resourceId: 'r1' }])).toEqual([
        { index: 0, isLate: true, resourceId: undefined },
      ])
      for (const kind of ['adopted', 'duplicate'] as const)
        expect(await nas.settle(['a', { kind, resourceId: 'r1' }])).toEqual([])
      expect(await ledger().countExtraSends(nas.library)).toBe(1)
    })

    test('an end names the session of its own host only', async () => {
      const [nas, laptop] = await openTwo(ledger())
      await nas.claim('a')
      await laptop.settle(['a', { kind: 'not-sent', session: nas.session }])
      expect(await kindsOf(laptop.claim('a'))).toEqual(['elsewhere'])
    })

    test('what is stored is claimed by nobody: a late end clears the claim of a closed session', async () => {
      const [nas, laptop] = await openTwo(ledger())
      const third = await TestHost.open(ledger(), 'third', nas.library)
      await nas.claim('a')
      await laptop.close(nas)
      await laptop.claim('a')
      await third.close(laptop)
      await nas.create('a', 'r1')
      expect(await kindsOf(third.claim('a'))).toEqual(['stored'])
    })

    test('ends need not be sorted, and may be of several libraries', async () => {
      const [nas, laptop] = await openTwo(ledger())
      const library = newLibrary()
      const names = ['d', 'b', 'a', 'c']
      await nas.claim(...names)
      await laptop.close(nas)
      await laptop.claim('b', 'c')
      await laptop.create('c', 'other')
      const created = (name: string) => [name, { kind: 'created', resourceId: `r-${name}` }] as const
      expect(await nas.settle(...names.map(created), ['e', { kind: 'created', resourceId: 'r-e', library }])).toEqual(
        expect.arrayContaining([
          { index: 1, isLate: true, resourceId: undefined },
          { index: 3, isLate: true, resourceId: 'other' },
        ]),
      )
      expect(
        await kindsOf(laptop.ledger.claim(laptop.session, library, [wanted('e'), wanted('a')], { newPerDay: null })),
      ).toEqual(['stored', 'mine'])
    })

    test('two ends of one content count in their order', async () => {
      const [nas, laptop] = await openTwo(ledger())
      await nas.claim('a', 'b')
      const end = { kind: 'created', resourceId: 'r1' } as const
      expect(
        await nas.settle(['b', { kind: 'absent' }], ['a', { kind: 'doubt' }], ['a', { kind: 'absent' }], ['a', end]),
      ).toEqual([])
      expect(await kindsOf(laptop.claim('a'))).toEqual(['stored'])
    })

    test('500 ends are one batch', async () => {
      const [nas, laptop] = await openTwo(ledger())
      const names = Array.from({ length: 500 }, (_, index) => `content ${index}`)
      await nas.claim(...names)
      expect(await nas.settle(...names.map((name) => [name, { kind: 'created', resourceId: name }] as const))).toEqual(
        [],
      )
      expect(new Set(await kindsOf(laptop.claim(...names)))).toEqual(new Set(['stored']))
    })
  })

  describe('batches', () => {
    test('a batch that was settled before changes nothing', async () => {
      const [nas, laptop] = await openTwo(ledger())
      await nas.claim('a')
      await nas.settle(['a', { kind: 'not-sent' }])
      await laptop.claim('a')
      expect(await nas.repeatSettle(['a', { kind: 'created', resourceId: 'r1' }])).toEqual([])
      expect(await kindsOf(laptop.claim('a'))).toEqual(['mine'])
    })

    test.each(['call', 'answer'] as const)('a batch whose %s was lost is repeated', async (loss) => {
      const [nas, laptop] = await openTwo(ledger())
      await nas.claim('a')
      await expectLost(ledger(), nas, loss, () => nas.create('a', 'r1'))
      await nas.repeatSettle(['a', { kind: 'created', resourceId: 'r1' }])
      expect(await kindsOf(laptop.claim('a'))).toEqual(['stored'])
      expect(await ledger().countExtraSends(nas.library)).toBe(0)
      expect(await nas.open()).toMatchObject({ settled: 1n })
    })

    test('a batch that does not follow the last one shows that the ledger went back', async () => {
      const nas = await TestHost.open(ledger())
      await nas.settle()
      nas.batch += 1n
      await expectLedgerError(nas.settle(), 'went-back')
      await expectLedgerError(nas.ledger.settle(0n, 1n, []), 'session-over')
      expect(await nas.open()).toMatchObject({ settled: 1n })
    })

    test('an empty batch counts', async () => {
      const nas = await TestHost.open(ledger())
      expect(await nas.settle()).toEqual([])
      expect(await nas.open()).toMatchObject({ settled: 1n })
    })

    test('each host counts its own', async () => {
      const [nas, laptop] = await openTwo(ledger())
      await nas.settle()
      await nas.settle()
      await laptop.settle()
      expect([(await nas.open()).settled, (await laptop.open()).settled]).toEqual([2n, 1n])
    })
  })
}
