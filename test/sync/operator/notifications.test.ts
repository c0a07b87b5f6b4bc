import { describe, expect, test } from 'vitest'
import { silentLogger } from '../../../src/foundation/logger.ts'
import { type Cause, RETRY_MS, type Situation } from '../../../src/rules/notices.ts'
import { openStore } from '../../../src/store/open-store.ts'
import { type Channel, type Delivery, Notifications } from '../../../src/sync/operator/notifications.ts'
import { manualClock } from '../../support/manual-clock.ts'
import { temporaryDirectory } from '../../support/temporary.ts'

const HALTED: Cause = { key: 'mirror:A', code: 'root-emptied', message: 'A: all files are gone' }

/** A state directory and a channel that records; `open` is a process. */
function scene() {
  const stateDir = temporaryDirectory()
  const clock = manualClock()
  const sent: string[] = []
  const warnings: string[] = []
  const answers: (() => Delivery)[] = []
  const channelOf = (name: string): Channel => ({
    name,
    send: async ({ event, subject }) => {
      const delivery = answers.shift()?.() ?? { kind: 'sent' }
      if (delivery.kind !== 'not-sent') sent.push(`${name} ${event}: ${subject}`)
      return delivery
    },
  })
  const open = (channels: readonly Channel[] = [channelOf('one')]) => {
    const store = openStore(stateDir)
    const logger = {
      ...silentLogger,
      warn: (message: string, fields = {}) => void warnings.push(message + JSON.stringify(fields)),
    }
    const context = { store, clock, logger, signal: new AbortController().signal }
    const notifications = new Notifications(context, { channels, overdueMs: null, host: 'here' })
    const update = (causes: readonly Cause[], more: Partial<Situation> = {}) => {
      const judged = new Set(['mirror:A', 'files:A', 'service', 'store'])
      const mirrors = [{ name: 'A', state: 'up-to-date', triedAt: clock.nowMs() } as const]
      return notifications.update({ nowMs: clock.nowMs(), causes, judged, mirrors, ...more })
    }
    return { store, update, [Symbol.dispose]: () => store[Symbol.dispose]() }
  }
  return { clock, sent, warnings, answers, channelOf, open }
}

describe('notices', () => {
  test('a cause notifies once, also across restarts, and its end once', async () => {
    const { open, sent } = scene()
    for (const causes of [[HALTED], [HALTED], [], []]) {
      using process = open()
      await process.update(causes)
      await process.update(causes)
    }
    expect(sent).toEqual([
      'one failure: shelfd on here: A: all files are gone',
      'one recovery: shelfd on here: all is well again',
    ])
  })

  test('a process that dies while it sends repeats no notification', async () => {
    const { open, sent } = scene()
    const { promise: never, resolve } = Promise.withResolvers<Delivery>()
    const hanging: Channel = { name: 'hanging', send: () => never }
    const dying = open([hanging])
    const dies = dying.update([HALTED])
    dying[Symbol.dispose]()
    using after = open()
    await after.update([HALTED])
    expect(sent).toEqual([])
    resolve({ kind: 'doubt', reason: 'cut off' })
    await dies
  })

  test('a notice that reached nobody is sent again later', async () => {
    const { open, sent, answers, warnings, clock } = scene()
    using process = open()
    answers.push(() => ({ kind: 'not-sent', reason: 'no network' }))
    await process.update([HALTED])
    await process.update([HALTED])
    expect(sent).toEqual([])
    expect(warnings).toEqual(['cannot send a notice{"channel":"one","reason":"no network"}'])
    await clock.advance(RETRY_MS)
    await process.update([HALTED])
    await process.update([HALTED])
    expect(sent).toHaveLength(1)
  })

  test('a notice that reached somebody, or perhaps did, is not repeated', async () => {
    const { open, sent, answers, channelOf, clock } = scene()
    using process = open([channelOf('one'), channelOf('two')])
    answers.push(
      () => ({ kind: 'not-sent', reason: 'no network' }),
      () => ({ kind: 'doubt', reason: 'no answer in time' }),
    )
    await process.update([HALTED])
    await clock.advance(RETRY_MS)
    await process.update([HALTED])
    expect(sent).toHaveLength(1)
  })

  test('a channel that breaks is a warning and nothing else', async () => {
    const { open, answers, warnings, sent, channelOf } = scene()
    using process = open([channelOf('one'), channelOf('two')])
    answers.push(() => {
      throw new Error('a fault\u001b[31m')
    })
    await process.update([HALTED])
    expect(warnings).toEqual([expect.stringMatching(/^cannot send a notice.*a fault/)])
    expect(warnings.join()).not.toContain('\u001b')
    expect(sent).toHaveLength(1)
  })

  test('an unreadable record of notices counts as none', async () => {
    const { open, sent } = scene()
    for (const text of ['{"announced":7}', 'no JSON']) {
      using before = open()
      before.store.write(() => before.store.keyValues.set('notices', text))
    }
    using process = open()
    await process.update([HALTED])
    expect(sent).toHaveLength(1)
  })

  test('a store that cannot be written is a warning', async () => {
    const { open, sent, warnings } = scene()
    using process = open()
    process.store.write = () => {
      throw new Error('the disk is full')
    }
    await process.update([HALTED])
    await process.update([HALTED])
    expect(sent).toHaveLength(1)
    expect(warnings[0]).toContain('the disk is full')
  })
})
