import fc from 'fast-check'
import { beforeEach, describe, expect, test } from 'vitest'
import { type ScheduleEntry, startSchedules } from '../../../src/daemon/schedule/schedule.ts'
import { silentLogger } from '../../../src/foundation/logger.ts'
import { openStore, type Store } from '../../../src/store/open-store.ts'
import { type ManualClock, manualClock } from '../../support/manual-clock.ts'
import { temporaryDirectory } from '../../support/temporary.ts'

const SECOND_MS = 1_000
const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS
const NIGHTLY = '0 2 * * *'

let store: Store
let names = 0

beforeEach(() => {
  store = openStore(temporaryDirectory())
  return () => store[Symbol.dispose]()
})

/** A mirror that no other test has. */
function newName(): string {
  names += 1
  return `mirror ${names}`
}

interface Begun {
  readonly entry?: ScheduleEntry
  readonly clock: ManualClock
  readonly timeZone?: string
  readonly onDue?: (name: string) => Promise<void>
  readonly store?: Pick<Store, 'keyValues' | 'write'>
}

/** Schedules as a daemon starts them, and when their batches began. */
function begin({ entry = { name: newName(), cron: NIGHTLY }, clock, timeZone = 'UTC', onDue, ...given }: Begun) {
  const runs: string[] = []
  const logged: string[] = []
  const logger = {
    ...silentLogger,
    info: (message: string) => logged.push(`info ${message}`),
    warn: (message: string) => logged.push(`warn ${message}`),
    error: (message: string) => logged.push(`error ${message}`),
  }
  const schedules = startSchedules([entry], {
    ...{ timeZone, clock, logger, store: given.store ?? store },
    onDue: async (name) => {
      runs.push(new Date(clock.nowMs()).toISOString().replace('.000Z', ''))
      await onDue?.(name)
    },
  })
  return { entry, runs, logged, schedules, [Symbol.dispose]: () => schedules[Symbol.dispose]() }
}

/** Schedules of a daemon that ran before: the batch at its first start is over and not counted in `runs`. */
async function beginUsed(input: Begun) {
  const begun = begin(input)
  await input.clock.advance(0)
  begun.runs.length = 0
  return begun
}

describe('batches', () => {
  test('a batch runs at once if it never ran, then when due', async () => {
    const clock = manualClock(Date.UTC(2026, 0, 1, 12))
    using begun = begin({ clock })
    expect(begun.runs).toEqual([])
    await clock.advance(2 * DAY_MS)
    expect(begun.runs).toEqual(['2026-01-01T12:00:00', '2026-01-02T02:00:00', '2026-01-03T02:00:00'])
    expect(begun.schedules.nextBatchAt(begun.entry.name)).toBe(Date.UTC(2026, 0, 4, 2))
    expect(begun.schedules.nextBatchAt('nobody')).toBeNull()
  })

  test('a batch follows summer and winter time, once a day', async () => {
    for (const [from, expected] of [
      [Date.UTC(2026, 2, 28, 12), '2026-03-29T01:00:00'],
      [Date.UTC(2026, 9, 24, 12), '2026-10-25T00:30:00'],
    ] as const) {
      const clock = manualClock(from)
      using begun = await beginUsed({
        clock,
        timeZone: 'Europe/Berlin',
        entry: { name: newName(), cron: '30 2 * * *' },
      })
      await clock.advance(DAY_MS)
      expect(begun.runs).toEqual([expected])
    }
  })

  test('batches never overlap, and a skip is logged once', async () => {
    const clock = manualClock(Date.UTC(2026, 0, 1))
    const ends = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    let begunCount = 0
    const onDue = () => {
      begunCount += 1
      return ends[begunCount - 1]?.promise ?? Promise.resolve()
    }
    using begun = begin({ clock, onDue, entry: { name: newName(), cron: '*/10 * * * *' } })
    await clock.advance(35 * MINUTE_MS)
    expect(begun.runs).toEqual(['2026-01-01T00:00:00'])
    expect(begun.logged).toEqual(['info A batch still runs at its next due time, which is skipped'])
    ends[0]?.resolve()
    await clock.advance(5 * MINUTE_MS)
    expect(begun.runs).toEqual(['2026-01-01T00:00:00', '2026-01-01T00:40:00'])
    await clock.advance(10 * MINUTE_MS)
    expect(begun.logged).toHaveLength(2)
    ends[1]?.resolve()
  })

  test('schedules continue after a failed batch', async () => {
    const clock = manualClock(Date.UTC(2026, 0, 1))
    using begun = begin({ clock, onDue: () => Promise.reject(new Error('no room')) })
    await clock.advance(DAY_MS)
    expect(begun.runs).toHaveLength(2)
    expect(begun.logged).toEqual(['error A scheduled batch failed', 'error A scheduled batch failed'])
  })

  test('disposed schedules begin no more batches', async () => {
    const clock = manualClock()
    const begun = begin({ clock })
    begun.schedules[Symbol.dispose]()
    await clock.advance(2 * DAY_MS)
    expect(begun.runs).toEqual([])
    expect(clock.countSleepers()).toBe(0)
  })

  test('a batch waits while its record cannot be written', async () => {
    const clock = manualClock(Date.UTC(2026, 0, 1))
    let isFull = true
    const write: Store['write'] = (work) => {
      if (isFull) throw new Error('disk full')
      return store.write(work)
    }
    using begun = begin({ clock, store: { keyValues: store.keyValues, write } })
    await clock.advance(90 * SECOND_MS)
    expect(begun.runs).toEqual([])
    isFull = false
    await clock.advance(MINUTE_MS)
    expect(begun.runs).toEqual(['2026-01-01T00:02:00'])
    expect(new Set(begun.logged)).toEqual(
      new Set(['warn A batch is due, but the store cannot be written; it starts once the store can be written']),
    )
  })
})

describe('after downtime', () => {
  test('a restart within a minute repeats no batch', async () => {
    const clock = manualClock(Date.UTC(2026, 0, 1, 1, 59, 30))
    const entry = { name: newName(), cron: NIGHTLY }
    {
      using begun = await beginUsed({ clock, entry })
      await clock.advance(40 * SECOND_MS)
      expect(begun.runs).toHaveLength(1)
    }
    using again = begin({ clock, entry })
    await clock.advance(30 * SECOND_MS)
    expect(again.runs).toEqual([])
  })

  test('an interrupted batch continues after each restart', async () => {
    const clock = manualClock(Date.UTC(2026, 0, 1, 12))
    const entry = { name: newName(), cron: NIGHTLY }
    const ends = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    for (const [restart, end] of ends.entries()) {
      const begun = begin({ clock, entry, onDue: () => end.promise })
      await clock.advance(HOUR_MS)
      expect(begun.runs, `start ${restart}`).toHaveLength(1)
      begun.schedules[Symbol.dispose]()
      // A stop makes the batch return, which does not complete it.
      end.resolve()
      await clock.advance(HOUR_MS / 2)
    }
    const last = await beginUsed({ clock, entry })
    await clock.advance(0)
    last.schedules[Symbol.dispose]()
    using again = begin({ clock, entry })
    await clock.advance(MINUTE_MS)
    expect(again.runs).toEqual([])
  })

  test('a batch whose process died continues at the next start', async () => {
    const clock = manualClock(Date.UTC(2026, 0, 1, 12))
    const entry = { name: newName(), cron: NIGHTLY }
    const died = begin({ clock, entry, onDue: () => new Promise(() => {}) })
    await clock.advance(3 * HOUR_MS)
    died.schedules[Symbol.dispose]()
    using again = begin({ clock, entry })
    await clock.advance(DAY_MS)
    expect(again.runs).toEqual(['2026-01-01T15:00:00', '2026-01-02T02:00:00'])
  })

  test('a changed expression forgets the interrupted batch', async () => {
    const clock = manualClock(Date.UTC(2026, 0, 1))
    const name = newName()
    const first = begin({ clock, entry: { name, cron: NIGHTLY }, onDue: () => new Promise(() => {}) })
    await clock.advance(0)
    first.schedules[Symbol.dispose]()
    using again = begin({ clock, entry: { name, cron: '0 5 * * *' } })
    await clock.advance(HOUR_MS)
    expect(again.runs).toEqual([])
  })

  test('one batch catches up with many missed times', async () => {
    const clock = manualClock(Date.UTC(2026, 0, 1))
    const entry = { name: newName(), cron: NIGHTLY }
    ;(await beginUsed({ clock, entry })).schedules[Symbol.dispose]()
    await clock.advance(10.5 * DAY_MS)
    using again = begin({ clock, entry })
    expect(again.schedules.nextBatchAt(entry.name)).toBe(Date.UTC(2026, 0, 1, 2))
    await clock.advance(DAY_MS)
    expect(again.runs).toEqual(['2026-01-11T12:00:00', '2026-01-12T02:00:00'])
  })

  test('a changed expression has missed no batch', async () => {
    const clock = manualClock(Date.UTC(2026, 0, 1))
    const name = newName()
    ;(await beginUsed({ clock, entry: { name, cron: NIGHTLY } })).schedules[Symbol.dispose]()
    await clock.advance(3 * DAY_MS)
    for (const restart of [1, 2]) {
      using again = begin({ clock, entry: { name, cron: '0 5 * * *' } })
      await clock.advance(MINUTE_MS)
      expect(again.runs, `start ${restart}`).toEqual([])
      expect(again.schedules.nextBatchAt(name)).toBe(Date.UTC(2026, 0, 4, 5))
    }
  })
})

describe('jumps of the clock', () => {
  test('one batch catches up at the check after a sleep [F-FS-24]', async () => {
    const clock = manualClock(Date.UTC(2026, 0, 1))
    using begun = await beginUsed({ clock })
    clock.jump(5 * DAY_MS)
    begun.schedules.check()
    begun.schedules.check()
    expect(begun.runs).toEqual(['2026-01-06T00:00:00'])
  })

  test('a sleep is noticed within a minute without a check', async () => {
    const clock = manualClock(Date.UTC(2026, 0, 1))
    using begun = await beginUsed({ clock })
    clock.jump(5 * DAY_MS)
    await clock.advance(MINUTE_MS)
    expect(begun.runs).toHaveLength(1)
  })

  test('a clock set back by years stops no schedule [P20]', async () => {
    const clock = manualClock(Date.UTC(2036, 0, 1))
    using begun = await beginUsed({ clock })
    clock.jump(Date.UTC(2026, 0, 1, 12) - Date.UTC(2036, 0, 1))
    await clock.advance(2 * DAY_MS)
    expect(begun.runs).toEqual(['2026-01-02T02:00:00', '2026-01-03T02:00:00'])
  })

  test('a machine without a clock misses and repeats no batch [P20]', async () => {
    const clock = manualClock(Date.UTC(2026, 0, 1))
    const entry = { name: newName(), cron: NIGHTLY }
    ;(await beginUsed({ clock, entry })).schedules[Symbol.dispose]()
    clock.jump(Date.UTC(1970, 0, 1) - clock.nowMs())
    using again = begin({ clock, entry })
    await clock.advance(MINUTE_MS)
    clock.jump(Date.UTC(2026, 0, 1, 1) - clock.nowMs())
    await clock.advance(MINUTE_MS)
    expect(again.runs).toEqual([])
    await clock.advance(HOUR_MS)
    expect(again.runs).toEqual(['2026-01-01T02:00:00'])
  })

  test('a clock set back by seconds repeats no batch', async () => {
    const clock = manualClock(Date.UTC(2026, 0, 1))
    using begun = await beginUsed({ clock })
    await clock.advance(2 * HOUR_MS)
    clock.jump(-10 * SECOND_MS)
    await clock.advance(5 * MINUTE_MS)
    expect(begun.runs).toEqual(['2026-01-01T02:00:00'])
  })
})

type Step = { readonly kind: 'run' | 'down' | 'asleep' | 'back'; readonly minutes: number }

describe('any pattern of downtime', () => {
  const minutes = fc.integer({ min: 0, max: 3_000 })
  const steps = fc.array(
    fc.oneof(
      fc.record({ kind: fc.constantFrom<Step['kind']>('run', 'down', 'asleep'), minutes }),
      fc.record({ kind: fc.constant<Step['kind']>('back'), minutes: fc.integer({ min: 0, max: 3 }) }),
    ),
    { maxLength: 12 },
  )
  const crons = fc.constantFrom(NIGHTLY, '0 */6 * * *', '17 4 * * 1-5', '5,35 * * * *')

  test('each due time has at most one batch, and none is missed', async () => {
    await fc.assert(
      fc.asyncProperty(steps, crons, async (list, cron) => {
        const clock = manualClock(Date.UTC(2026, 0, 1, 12))
        const entry = { name: newName(), cron }
        const runsAt: number[] = []
        const onDue = async () => {
          runsAt.push(clock.nowMs())
        }
        let begun = await beginUsed({ clock, entry, onDue })
        let latestMs = clock.nowMs()
        for (const step of [...list, { kind: 'run', minutes: 2 } as const]) {
          begun = await play(step, begun, { clock, entry, onDue })
          await clock.advance(0)
          latestMs = Math.max(latestMs, clock.nowMs())
        }
        begun.schedules[Symbol.dispose]()
        const dueMs = dueTimes(cron, Date.UTC(2026, 0, 1, 12), latestMs)
        const served = runsAt.slice(1).map((atMs) => dueMs.findLast((due) => due <= atMs))
        expect(new Set(served).size).toBe(served.length)
        expect(served).not.toContain(undefined)
        const lastMissable = dueMs.findLast((due) => due <= latestMs - 2 * MINUTE_MS)
        expect(runsAt.at(-1) ?? 0).toBeGreaterThanOrEqual(lastMissable ?? 0)
      }),
      { numRuns: 40 },
    )
  })
})

/** Plays one step; afterwards the daemon runs. */
async function play(
  { kind, minutes }: Step,
  begun: Awaited<ReturnType<typeof beginUsed>>,
  input: Begun & { clock: ManualClock },
): Promise<typeof begun> {
  if (kind === 'back') input.clock.jump(-minutes * MINUTE_MS)
  if (kind === 'asleep') {
    input.clock.jump(minutes * MINUTE_MS)
    begun.schedules.check()
  }
  if (kind === 'run') await input.clock.advance(minutes * MINUTE_MS)
  if (kind !== 'down') return begun
  begun.schedules[Symbol.dispose]()
  await input.clock.advance(minutes * MINUTE_MS)
  return begin(input)
}

/** Every due time in (fromMs, toMs], minute by minute; for the few forms of expressions used here. */
function dueTimes(cron: string, fromMs: number, toMs: number): number[] {
  const [minute = '', hour = '', , , weekday = ''] = cron.split(' ')
  const isDue = (atMs: number) => {
    const date = new Date(atMs)
    const isHour =
      hour === '*' || (hour.startsWith('*/') ? date.getUTCHours() % 6 === 0 : date.getUTCHours() === Number(hour))
    const isWeekday = weekday === '*' || (date.getUTCDay() > 0 && date.getUTCDay() < 6)
    return minute.split(',').includes(String(date.getUTCMinutes())) && isHour && isWeekday
  }
  const count = Math.floor((toMs - fromMs) / MINUTE_MS)
  return Array.from({ length: Math.max(0, count) }, (_, index) => fromMs + (index + 1) * MINUTE_MS).filter(isDue)
}
