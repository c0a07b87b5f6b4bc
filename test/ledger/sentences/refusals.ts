import { describe, expect, test } from 'vitest'
import { kindsOf, type LedgerUnderTest, openTwo, TestHost, wanted } from '../test-host.ts'

const REFUSAL = { code: 'too-large', message: 'The file is too large', retryAt: null, isSetAside: false }

export function describeRefusals(ledger: () => LedgerUnderTest): void {
  describe('refusals', () => {
    test('what the service refused is refused for all hosts', async () => {
      const [nas, laptop] = await openTwo(ledger())
      await nas.claim('a')
      expect(await nas.settle(['a', { kind: 'refused', refusal: REFUSAL }])).toEqual([])
      expect(await laptop.claim('a')).toEqual([{ kind: 'refused', ...REFUSAL, host: 'nas' }])
      expect(await nas.claim('a')).toEqual([{ kind: 'refused', ...REFUSAL, host: 'nas' }])
      expect(await kindsOf(laptop.claim(wanted('a', '/a', 'text/plain'), 'b'))).toEqual(['mine', 'mine'])
    })

    test('one with a time ends, and the next host tries again', async () => {
      const [nas, laptop] = await openTwo(ledger())
      await nas.claim('a')
      const retryAt = ledger().nowMs() + 3_600_000
      await nas.settle(['a', { kind: 'refused', refusal: { ...REFUSAL, retryAt } }])
      expect(await laptop.claim('a')).toEqual([{ kind: 'refused', ...REFUSAL, retryAt, host: 'nas' }])
      await ledger().passTime(2 * 3_600_000)
      expect(await kindsOf(laptop.peek('a'))).toEqual(['mine'])
      expect(await kindsOf(laptop.claim('a'))).toEqual(['mine'])
      expect(await kindsOf(nas.claim('a'))).toEqual(['elsewhere'])
    })

    test('one without a time stays', async () => {
      const nas = await TestHost.open(ledger())
      await nas.claim('a')
      await nas.settle(['a', { kind: 'refused', refusal: REFUSAL }])
      await ledger().passTime(400 * 24 * 3_600_000)
      expect(await kindsOf(nas.claim('a'))).toEqual(['refused'])
    })

    test('one that was set aside stays, whatever its time', async () => {
      const nas = await TestHost.open(ledger())
      await nas.claim('a')
      await nas.settle(['a', { kind: 'refused', refusal: { ...REFUSAL, retryAt: 1_000, isSetAside: true } }])
      expect(await nas.claim('a')).toMatchObject([{ kind: 'refused', retryAt: 1_000, isSetAside: true }])
    })

    test('one that somebody wants tried again is lifted for all hosts', async () => {
      const [nas, laptop] = await openTwo(ledger())
      await nas.claim('a')
      await nas.settle([
        'a',
        { kind: 'refused', refusal: { code: 'invalid', message: 'no', retryAt: null, isSetAside: true } },
      ])
      expect(await laptop.settle(['a', { kind: 'retry' }])).toEqual([])
      expect(await kindsOf(nas.claim('a'))).toEqual(['mine'])
    })

    test.each(['retry', 'ignored'] as const)(
      'what somebody decides (%s) frees no content that is in doubt',
      async (kind) => {
        const [nas, laptop] = await openTwo(ledger())
        await nas.claim('a')
        const refusal = { code: 'upload-in-doubt', message: '?', retryAt: null, isSetAside: kind === 'ignored' }
        await nas.settle(['a', { kind: 'doubt' }], ['a', { kind, refusal }])
        await laptop.close(nas)
        if (kind === 'ignored') await laptop.settle(['a', { kind: 'retry' }])
        expect(await kindsOf(laptop.claim('a'))).toEqual(['doubtful'])
      },
    )

    test('a later one takes the place of an earlier one', async () => {
      const [nas, laptop] = await openTwo(ledger())
      await nas.claim('a')
      await nas.settle(['a', { kind: 'refused', refusal: { ...REFUSAL, retryAt: 1_000 } }])
      await laptop.claim('a')
      await laptop.settle(['a', { kind: 'refused', refusal: { ...REFUSAL, code: 'invalid' } }])
      expect(await nas.claim('a')).toEqual([{ kind: 'refused', ...REFUSAL, code: 'invalid', host: 'laptop' }])
    })

    test('a content that is stored after all is refused no more', async () => {
      const [nas, laptop] = await openTwo(ledger())
      await nas.claim('a')
      await nas.settle(['a', { kind: 'refused', refusal: { ...REFUSAL, retryAt: 1_000 } }])
      await laptop.claim('a')
      await laptop.create('a')
      expect(await kindsOf(nas.claim('a'))).toEqual(['stored'])
    })

    test.each(['ü'.repeat(2_000), 'x'.repeat(501), `${'x'.repeat(495)}🗂🗂`, 'nul \0 byte'])(
      'a message is text of at most 500 bytes',
      async (message) => {
        const nas = await TestHost.open(ledger())
        await nas.claim('a')
        await nas.settle(['a', { kind: 'refused', refusal: { ...REFUSAL, message } }])
        const [answer] = await nas.claim('a')
        const kept = answer?.kind === 'refused' ? answer.message : ''
        expect(Buffer.byteLength(kept)).toBeLessThanOrEqual(500)
        expect(kept.length).toBeGreaterThan(7)
        expect(message.startsWith(kept.replace(/…$/, '').replaceAll('\ufffd', '\0'))).toBe(true)
      },
    )
  })
}
