import { describe, expect, test } from 'vitest'
import {
  kindsOf,
  type LedgerUnderTest,
  manyWanted,
  NO_LIMIT,
  newLibrary,
  openTwo,
  TestHost,
  wanted,
} from '../test-host.ts'

export function describeClaims(ledger: () => LedgerUnderTest): void {
  describe('claims', () => {
    test('a content is claimed once; another host learns who sends it [P3]', async () => {
      const [nas, laptop] = await openTwo(ledger())
      expect(await nas.claim('a')).toEqual([{ kind: 'mine' }])
      const [answer] = await laptop.claim('a')
      expect(answer).toEqual({
        kind: 'elsewhere',
        host: 'nas',
        owner: { session: expect.any(BigInt), beat: expect.any(BigInt) },
      })
    })

    test('a repeated claim has the same answers', async () => {
      const [nas, laptop] = await openTwo(ledger())
      await laptop.claim('b')
      await nas.claim('a', 'b', 'c')
      expect(await kindsOf(nas.claim('a', 'b', 'c'))).toEqual(['mine', 'elsewhere', 'mine'])
    })

    test('the same bytes of another MIME type, library or tenant are another content', async () => {
      const [nas, laptop] = await openTwo(ledger())
      await nas.claim('a')
      const claimIn = (library = laptop.library, content = wanted('a')) =>
        kindsOf(laptop.ledger.claim(laptop.session, library, [content], NO_LIMIT))
      expect(await claimIn()).toEqual(['elsewhere'])
      expect(await claimIn(laptop.library, wanted('a', '/a', 'text/plain'))).toEqual(['mine'])
      expect(await claimIn({ ...laptop.library, remoteId: 'other' })).toEqual(['mine'])
      expect(await claimIn({ ...laptop.library, tenantId: 2 })).toEqual(['mine'])
      expect(await claimIn({ ...laptop.library, origin: 'https://other.example' })).toEqual(['mine'])
    })

    test('answers are in the order of the contents, which need not be sorted', async () => {
      const [nas, laptop] = await openTwo(ledger())
      await nas.claim('c', 'a')
      expect(await kindsOf(laptop.claim('d', 'c', 'b', 'a', 'e'))).toEqual([
        'mine',
        'elsewhere',
        'mine',
        'elsewhere',
        'mine',
      ])
      expect(await kindsOf(laptop.claim('a', 'e', 'c'))).toEqual(['elsewhere', 'mine', 'elsewhere'])
    })

    test('no contents have no answers', async () => {
      expect(await (await TestHost.open(ledger())).claim()).toEqual([])
    })

    test('a content that a call names twice has one answer', async () => {
      const [nas, laptop] = await openTwo(ledger())
      expect(await kindsOf(nas.claim('a', 'b', 'a'))).toEqual(['mine', 'mine', 'mine'])
      expect(await kindsOf(laptop.claim('a', 'a'))).toEqual(['elsewhere', 'elsewhere'])
    })

    test('500 contents are claimed by one call', async () => {
      const [nas, laptop] = await openTwo(ledger())
      expect(new Set(await kindsOf(nas.claim(...manyWanted(500))))).toEqual(new Set(['mine']))
      const others = await laptop.claim(...manyWanted(500).reverse())
      expect(new Set(others.map(({ kind }) => kind))).toEqual(new Set(['elsewhere']))
    })

    test('of two hosts that claim the same contents at the same time, one gets each [P3]', async () => {
      const [nas, laptop] = await openTwo(ledger())
      const contents = manyWanted(100)
      const [ours, theirs] = await Promise.all([
        kindsOf(nas.claim(...contents)),
        kindsOf(laptop.claim(...contents.toReversed())),
      ])
      const isMine = ours.map((kind, index) => Number(kind === 'mine') + Number(theirs.toReversed()[index] === 'mine'))
      expect(new Set(isMine)).toEqual(new Set([1]))
    })

    test('of eight hosts that claim and settle the same contents, each content is sent by one [P3]', async () => {
      const library = newLibrary()
      const hosts = await Promise.all(
        Array.from({ length: 8 }, (_, index) => TestHost.open(ledger(), `host ${index}`, library)),
      )
      const sent = await Promise.all(
        hosts.map(async (host, at) => {
          const names = Array.from({ length: 60 }, (_, index) => `content ${(index * 7 + at * 11) % 60}`)
          const ours: string[] = []
          for (let from = 0; from < names.length; from += 10) {
            const asked = names.slice(from, from + 10)
            const answers = await host.claim(...asked)
            const mine = asked.filter((_, index) => answers[index]?.kind === 'mine')
            await host.settle(
              ...mine.map((name) => [name, { kind: 'created' as const, resourceId: `r-${name}` }] as const),
            )
            ours.push(...mine)
          }
          return ours
        }),
      )
      expect(sent.flat().length).toBe(60)
      expect(new Set(sent.flat()).size).toBe(60)
      expect(await ledger().countExtraSends(library)).toBe(0)
    })

    test('a claim whose call or answer was lost is repeated', async () => {
      const [nas, laptop] = await openTwo(ledger())
      ledger().lose(nas.ledger, 'answer')
      await expect(nas.claim('a', 'b')).rejects.toMatchObject({ code: 'ledger-away' })
      expect(await kindsOf(laptop.claim('a'))).toEqual(['elsewhere'])
      ledger().lose(nas.ledger, 'call')
      await expect(nas.claim('a', 'b')).rejects.toMatchObject({ code: 'ledger-away' })
      expect(await kindsOf(nas.claim('a', 'b'))).toEqual(['mine', 'mine'])
    })
  })

  describe('a dry run', () => {
    test('claims nothing', async () => {
      const [nas, laptop] = await openTwo(ledger())
      expect(await nas.peek('a', 'a', 'b')).toEqual([{ kind: 'mine' }, { kind: 'mine' }, { kind: 'mine' }])
      expect(await kindsOf(laptop.claim('a'))).toEqual(['mine'])
    })

    test('of no contents has no answers', async () => {
      expect(await (await TestHost.open(ledger())).peek()).toEqual([])
    })

    test('sees what is claimed, in doubt, stored and refused', async () => {
      const [nas, laptop] = await openTwo(ledger())
      await nas.claim('claimed', 'stored', 'refused')
      const refusal = { code: 'invalid', message: 'no', retryAt: null, isSetAside: false }
      await nas.settle(
        ['stored', { kind: 'created', resourceId: 'r1', outcome: 'partial' }],
        ['refused', { kind: 'refused', refusal }],
      )
      expect(await laptop.peek('refused', 'claimed', 'free', 'stored')).toEqual([
        { kind: 'refused', ...refusal, host: 'nas' },
        { kind: 'elsewhere', host: 'nas', owner: { session: expect.any(BigInt), beat: expect.any(BigInt) } },
        { kind: 'mine' },
        { kind: 'stored', resourceId: 'r1', outcome: 'partial', host: 'nas' },
      ])
      await laptop.close(nas)
      expect(await laptop.peek('claimed')).toEqual([
        { kind: 'doubtful', places: [wanted('claimed').place], host: 'nas' },
      ])
    })

    test('needs no session, also after the own one is over', async () => {
      const [nas, laptop] = await openTwo(ledger())
      await laptop.close(nas)
      expect(await nas.peek('a')).toEqual([{ kind: 'mine' }])
    })
  })
}
