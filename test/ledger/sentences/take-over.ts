import { describe, expect, test } from 'vitest'
import { kindsOf, type LedgerUnderTest, openTwo, TestHost, wanted } from '../test-host.ts'

export function describeTakeOver(ledger: () => LedgerUnderTest): void {
  describe('what a closed session had claimed', () => {
    test('is in doubt for the host that asks next, which learns where to look [P3, P4]', async () => {
      const [nas, laptop] = await openTwo(ledger())
      await nas.claim(wanted('a', '/nas/a.md'))
      await laptop.close(nas)
      const places = [wanted('a', '/nas/a.md').place, wanted('a', '/laptop/b.md').place]
      expect(await laptop.claim(wanted('a', '/laptop/b.md'))).toEqual([{ kind: 'doubtful', places, host: 'nas' }])
    })

    test('stays in doubt when the claim is repeated, by the same answer', async () => {
      const [nas, laptop] = await openTwo(ledger())
      await nas.claim('a')
      await laptop.close(nas)
      const first = await laptop.claim('a')
      expect(await laptop.claim('a')).toEqual(first)
      expect(first).toEqual([{ kind: 'doubtful', places: [wanted('a').place], host: 'nas' }])
    })

    test('is in doubt at once when the session was closed by its own host', async () => {
      const [nas, laptop] = await openTwo(ledger())
      await nas.claim('a')
      await nas.ledger.close(nas.session)
      expect(await nas.ledger.renew(nas.session)).toMatchObject({ isOpen: false })
      expect(await laptop.claim('a')).toEqual([{ kind: 'doubtful', places: [wanted('a').place], host: 'nas' }])
    })

    test('is taken over once: another host learns who looks [P3]', async () => {
      const [nas, laptop] = await openTwo(ledger())
      const third = await TestHost.open(ledger(), 'third', nas.library)
      await nas.claim('a')
      await laptop.close(nas)
      const kinds = await Promise.all([kindsOf(laptop.claim('a')), kindsOf(third.claim('a'))])
      expect(kinds.flat().sort()).toEqual(['doubtful', 'elsewhere'])
    })

    test('is taken over a second time with all places', async () => {
      const [nas, laptop] = await openTwo(ledger())
      const third = await TestHost.open(ledger(), 'third', nas.library)
      await nas.claim(wanted('a', '/1'))
      await laptop.close(nas)
      await laptop.claim(wanted('a', '/2'))
      await third.close(laptop)
      const places = ['/1', '/2', '/3'].map((path) => wanted('a', path).place)
      expect(await third.claim(wanted('a', '/3'))).toEqual([{ kind: 'doubtful', places, host: 'laptop' }])
    })

    test('is in doubt for the same host after it was started again', async () => {
      const nas = await TestHost.open(ledger())
      await nas.claim('a')
      await nas.open()
      expect(await nas.claim('a')).toEqual([{ kind: 'doubtful', places: [wanted('a').place], host: 'nas' }])
    })

    test('has one place for each, however often its host is started again', async () => {
      const nas = await TestHost.open(ledger())
      for (let start = 0; start < 5; start += 1) {
        await nas.claim('a')
        await nas.open()
      }
      expect(await nas.claim('a')).toEqual([{ kind: 'doubtful', places: [wanted('a').place], host: 'nas' }])
    })

    test('has the place of each file for which its session asked', async () => {
      const [nas, laptop] = await openTwo(ledger())
      await nas.claim(wanted('a', '/old name'), wanted('a', '/twin'))
      expect(await kindsOf(nas.claim(wanted('a', '/new name')))).toEqual(['mine'])
      await laptop.close(nas)
      const [answer] = await laptop.claim(wanted('a', '/old name'))
      const paths = answer?.kind === 'doubtful' ? answer.places.map(({ path }) => path).sort() : []
      expect(paths).toEqual(['/new name', '/old name', '/twin'])
    })

    test.each([
      'plain',
      '"quotes" \'and\' \\',
      '{braces,}',
      'line\nbreak\r\t',
      'NULL',
      'nul \0 byte',
      'ünïcödé ☂ 🗂',
      'half \ud800',
      ' ',
    ])('comes back with its path: %j', async (path) => {
      const [nas, laptop] = await openTwo(ledger())
      await nas.claim(wanted('a', path))
      await laptop.close(nas)
      expect(await laptop.claim(wanted('a', path))).toEqual([
        { kind: 'doubtful', places: [{ path, remoteDirectory: '/Papers' }], host: 'nas' },
      ])
    })

    test('stays elsewhere while nobody has closed the session', async () => {
      const [nas, laptop] = await openTwo(ledger())
      await nas.claim('a')
      await ledger().passTime(48 * 3_600_000)
      expect(await kindsOf(laptop.claim('a'))).toEqual(['elsewhere'])
    })

    test('may be sent once its new owner has looked everywhere, and keeps its places', async () => {
      const [nas, laptop] = await openTwo(ledger())
      const third = await TestHost.open(ledger(), 'third', nas.library)
      await nas.claim(wanted('a', '/1'))
      await laptop.close(nas)
      await laptop.claim(wanted('a', '/2'))
      expect(await laptop.settle(['a', { kind: 'absent' }])).toEqual([])
      expect(await kindsOf(laptop.claim(wanted('a', '/2')))).toEqual(['mine'])
      await third.close(laptop)
      expect(await third.claim(wanted('a', '/2'))).toMatchObject([
        { kind: 'doubtful', places: [{ path: '/1' }, { path: '/2' }] },
      ])
    })
  })
}
