import { describe, expect, test } from 'vitest'
import { type MirrorTroubles, StatusNotices, situationOf } from '../../src/daemon/status-notices.ts'
import { silentLogger } from '../../src/foundation/logger.ts'
import { openStore } from '../../src/store/open-store.ts'
import type { DaemonMirrorStatus, DaemonStatus } from '../../src/sync/continuous/controller-status.ts'
import { manualClock } from '../support/manual-clock.ts'
import { temporaryDirectory } from '../support/temporary.ts'

const NOW = 1_000_000

function mirror(more: Partial<DaemonMirrorStatus>): DaemonMirrorStatus {
  return {
    ...{ name: 'A', path: '/a', state: 'idle', reason: null, watcher: null, isWatchLimited: false, settling: 0 },
    ...{ missedByWatcher: 0, lastScanAt: 5, lastSuccessAt: 5, nextRunAt: null, nextBatchAt: null },
    ...more,
  }
}

function status(more: Partial<DaemonMirrorStatus>, all: Partial<DaemonStatus> = {}): DaemonStatus {
  const service = { state: 'connected', sinceMs: 0, reason: null } as const
  return {
    ...{ pid: 1, startedAt: 0, service, ledger: null, isStoreFull: false, uploading: 0, inIngestion: 0 },
    mirrors: [mirror(more)],
    ...all,
  }
}

const NO_TROUBLES: MirrorTroubles = { problems: [], lastBatchAt: null }
const halted = { state: 'halted', reason: { code: 'root-emptied', message: 'all files are gone' } } as const
const scheduled = { state: 'held', reason: { code: 'scheduled', message: 'until 02:00' } } as const
const away = { state: 'away', sinceMs: 0, reason: { code: 'service-unreachable', message: 'no route' } } as const
const refused = { state: 'refused', sinceMs: 0, reason: { code: 'credential-refused', message: '401' } } as const

describe('what the status of a daemon says about causes', () => {
  test.each<[string, DaemonStatus, Partial<MirrorTroubles>, causes: string[], judged: string[], state: string]>([
    ['a mirror at rest is up to date', status({}), {}, [], ['service', 'store', 'mirror:A', 'files:A'], 'up-to-date'],
    [
      'a mirror that sends is behind',
      status({ state: 'sending' }),
      {},
      [],
      ['service', 'store', 'mirror:A', 'files:A'],
      'behind',
    ],
    ['a first scan says nothing', status({ state: 'scanning', lastScanAt: null }), {}, [], ['service'], 'behind'],
    ['a halted mirror is a cause', status(halted), {}, ['mirror:A root-emptied'], ['service', 'files:A'], 'behind'],
    [
      'a mirror without its directory is a cause',
      status({ state: 'waiting', reason: { code: 'root-missing', message: 'no such directory' } }),
      {},
      ['mirror:A root-missing'],
      ['service', 'files:A'],
      'behind',
    ],
    [
      'a service that is away is none, and proves nothing',
      status({ state: 'waiting', reason: { code: 'service-unreachable', message: 'no route' } }, { service: away }),
      {},
      [],
      ['files:A'],
      'behind',
    ],
    [
      'a refused credential is a cause',
      status({ state: 'waiting' }, { service: refused }),
      {},
      ['service credential-refused'],
      ['files:A'],
      'behind',
    ],
    [
      'a full disk is a cause',
      status({ state: 'waiting' }, { isStoreFull: true }),
      {},
      ['store disk-full'],
      ['service', 'files:A'],
      'behind',
    ],
    [
      'files that need somebody are one cause, the others none',
      status({}),
      {
        problems: [
          { code: 'too-large', count: 2 },
          { code: 'busy', count: 9 },
        ],
      },
      ['files:A '],
      ['service', 'store', 'mirror:A', 'files:A'],
      'up-to-date',
    ],
    [
      'a paused mirror is as its user wants it',
      status({ state: 'held', reason: { code: 'paused', message: '' } }),
      {},
      [],
      ['service', 'store', 'mirror:A', 'files:A'],
      'paused',
    ],
    [
      'after a batch that succeeded a mirror is up to date',
      status({ ...scheduled, lastSuccessAt: 70 }),
      { lastBatchAt: 60 },
      [],
      ['service', 'store', 'mirror:A', 'files:A'],
      'up-to-date',
    ],
    [
      'after a batch that did not a mirror is behind since then',
      status({ ...scheduled, lastSuccessAt: 50 }),
      { lastBatchAt: 60 },
      [],
      ['service', 'store', 'mirror:A', 'files:A'],
      'behind at 60',
    ],
    [
      'before the first batch nothing is known',
      status(scheduled),
      {},
      [],
      ['service', 'store', 'mirror:A', 'files:A'],
      'unknown',
    ],
  ])('%s', (_, given, troubles, causes, judged, state) => {
    const moment = { nowMs: NOW, isFresh: false, troublesOf: () => ({ ...NO_TROUBLES, ...troubles }) }
    const seen = situationOf(given, moment)
    expect(seen.causes.map(({ key, code }) => `${key} ${code}`)).toEqual(causes)
    expect([...seen.judged]).toEqual(judged)
    const [only] = seen.mirrors
    expect(only && `${only.state}${only.triedAt === NOW ? '' : ` at ${only.triedAt}`}`).toBe(state)
  })

  test('just after a start or a wake nobody is behind', () => {
    const moment = { nowMs: NOW, isFresh: true, troublesOf: () => NO_TROUBLES }
    expect(situationOf(status({ state: 'sending' }), moment).mirrors[0]?.state).toBe('unknown')
  })
})

test('the daemon checks every minute, and notifies once', async () => {
  const clock = manualClock()
  using store = openStore(temporaryDirectory())
  const sent: string[] = []
  const channel = {
    name: 'test',
    send: async ({ subject }: { subject: string }) => {
      sent.push(subject)
      return { kind: 'sent' } as const
    },
  }
  const plan = { channels: [channel], overdueMs: 2 * 3_600_000, host: 'here' }
  const input = { store, clock, logger: silentLogger, signal: new AbortController().signal }
  const notices = new StatusNotices(input, plan)
  const beats = async (count: number, given: DaemonStatus) => {
    for (let beat = 0; beat < count; beat += 1) {
      await notices.beat(() => given)
      await clock.advance(15_000)
    }
  }
  await beats(4, status(halted))
  expect(sent).toEqual([])
  await beats(12, status(halted))
  await beats(8, status({}))
  expect(sent).toEqual(['shelfd on here: A: all files are gone', 'shelfd on here: all is well again'])
  sent.length = 0
  // What it missed in the half hour after the start counts, but is notified after it only.
  await beats(4 * 60 * 3, status({ state: 'sending' }))
  expect(sent).toEqual(['shelfd on here: A has not been up to date for 2h 00m'])
})

test('a status that cannot be read is checked again later, and ends nothing [F-PR-20]', async () => {
  const clock = manualClock()
  using store = openStore(temporaryDirectory())
  const warnings: string[] = []
  const logger = { ...silentLogger, warn: (message: string) => void warnings.push(message) }
  const plan = { channels: [], overdueMs: null, host: 'here' }
  const notices = new StatusNotices({ store, clock, logger, signal: new AbortController().signal }, plan)
  let asked = 0
  const readStatus = () => {
    asked += 1
    throw new Error('database or disk is full')
  }
  for (let beat = 0; beat < 9; beat += 1) {
    await notices.beat(readStatus)
    await clock.advance(15_000)
  }
  expect([asked, warnings]).toEqual([2, Array.from({ length: 2 }, () => 'cannot check whether a notice must be sent')])
})
