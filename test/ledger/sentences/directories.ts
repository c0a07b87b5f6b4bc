import { describe, expect, test } from 'vitest'
import { expectLedgerError, type LedgerUnderTest, newLibrary, openTwo, TestHost } from '../test-host.ts'

export function describeDirectories(ledger: () => LedgerUnderTest): void {
  describe('directories', () => {
    const claim = (host: TestHost, ...paths: string[]) =>
      host.ledger.claimDirectories(host.session, host.library, paths)

    test('one host creates a directory, and the others wait until it is there', async () => {
      const [nas, laptop] = await openTwo(ledger())
      expect(await claim(nas, '/a')).toEqual(['mine'])
      expect(await claim(nas, '/a')).toEqual(['mine'])
      expect(await claim(laptop, '/a', '/b')).toEqual(['elsewhere', 'mine'])
      await nas.ledger.settleDirectories(nas.library, ['/a'], true)
      expect(await claim(laptop, '/a')).toEqual(['created'])
      expect(await claim(nas, '/a')).toEqual(['created'])
    })

    test('of hosts that claim many at the same time, one gets each', async () => {
      const [nas, laptop] = await openTwo(ledger())
      const paths = Array.from({ length: 200 }, (_, index) => `/d${index}`)
      const [ours, theirs] = await Promise.all([claim(nas, ...paths), claim(laptop, ...paths.toReversed())])
      const mine = ours.map((kind, index) => Number(kind === 'mine') + Number(theirs.toReversed()[index] === 'mine'))
      expect(new Set(mine)).toEqual(new Set([1]))
    })

    test('one that is not there is claimed again', async () => {
      const [nas, laptop] = await openTwo(ledger())
      await claim(nas, '/failed', '/gone')
      await nas.ledger.settleDirectories(nas.library, ['/gone'], true)
      await nas.ledger.settleDirectories(nas.library, ['/failed', '/gone'], false)
      expect(await claim(laptop, '/failed', '/gone')).toEqual(['mine', 'mine'])
    })

    test('one that was found in the library needs no claim', async () => {
      const nas = await TestHost.open(ledger())
      await nas.ledger.settleDirectories(nas.library, ['/there'], true)
      expect(await claim(nas, '/there')).toEqual(['created'])
    })

    test('those of a closed session are free, also of an earlier one of the same host', async () => {
      const [nas, laptop] = await openTwo(ledger())
      await claim(nas, '/a', '/b')
      await laptop.close(nas)
      expect(await claim(laptop, '/a')).toEqual(['mine'])
      await nas.open()
      await nas.open()
      expect(await claim(nas, '/a', '/b')).toEqual(['elsewhere', 'mine'])
    })

    test('a session that is over claims none', async () => {
      const [nas, laptop] = await openTwo(ledger())
      await laptop.close(nas)
      await expectLedgerError(claim(nas, '/a'), 'session-over')
    })

    test('paths need not be sorted, may be named twice and be long', async () => {
      const [nas, laptop] = await openTwo(ledger())
      const long = `/${'ü'.repeat(5_000)}`
      expect(await claim(nas, '/b', long, '/b')).toEqual(['mine', 'mine', 'mine'])
      expect(await claim(laptop, '/c', '/b', '/a', long)).toEqual(['mine', 'elsewhere', 'mine', 'elsewhere'])
    })

    test('no paths have no answers', async () => {
      const nas = await TestHost.open(ledger())
      expect(await claim(nas)).toEqual([])
      await nas.ledger.settleDirectories(nas.library, [], true)
    })

    test('each library has its own', async () => {
      const nas = await TestHost.open(ledger())
      await nas.ledger.settleDirectories(nas.library, ['/a'], true)
      expect(await nas.ledger.claimDirectories(nas.session, newLibrary(), ['/a'])).toEqual(['mine'])
    })
  })
}
