import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  afterFailedNotice,
  type Cause,
  decideNotice,
  MAX_NOTICES_PER_HOUR,
  type MirrorSituation,
  NOTHING_ANNOUNCED,
  type Notice,
  type NoticeState,
  noticeState,
  RETRY_MS,
  type Situation,
} from '../../src/rules/notices.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const KEYS = ['service', 'store', 'mirror:A', 'files:A', 'mirror:B', 'files:B']

const of = (key: string, code = ''): Cause => ({ key, code, message: `${key} ${code}` })
const mirrors = (state: MirrorSituation['state'], nowMs = 0): MirrorSituation[] =>
  ['A', 'B'].map((name) => ({ name, state, triedAt: nowMs }))

interface Step extends Partial<Situation> {
  /** `failures; recoveries; open`, or undefined for no notice. */
  readonly says: string | undefined
}

/** Decides step after step, each a minute after the one before unless it says when. */
function follow(steps: readonly Step[], overdueMs: number | null = DAY_MS): void {
  let state: NoticeState = NOTHING_ANNOUNCED
  let nowMs = 0
  for (const [index, { says, ...seen }] of steps.entries()) {
    nowMs = seen.nowMs ?? nowMs + 60_000
    const observation = { nowMs, causes: [], judged: new Set(KEYS), mirrors: mirrors('unknown'), ...seen }
    const { state: next, notice } = decideNotice(state, observation, overdueMs)
    expect(notice && shown(notice), `step ${index}`).toBe(says)
    state = next
  }
}

function shown({ failures, recoveries, open }: Notice): string {
  const list = (causes: readonly Cause[]) =>
    causes.map(({ key, code }) => [key, code].filter(Boolean).join(' ')).join(', ')
  return `${list(failures)}; ${list(recoveries)}; ${open}`
}

describe('when to notify', () => {
  const cases: readonly (readonly [string, readonly Step[]])[] = [
    ['nothing is said while all is well', [{ says: undefined }, { says: undefined }]],
    [
      'a cause is said once, and its end',
      [
        { causes: [of('service', 'credential-refused')], says: 'service credential-refused; ; 1' },
        { causes: [of('service', 'credential-refused')], says: undefined },
        { says: '; service credential-refused; 0' },
        { says: undefined },
      ],
    ],
    [
      'a cause that returns is said again',
      [
        { causes: [of('store')], says: 'store; ; 1' },
        { says: '; store; 0' },
        { causes: [of('store')], says: 'store; ; 1' },
      ],
    ],
    [
      'several causes are one notice',
      [
        {
          causes: [of('mirror:A', 'root-missing'), of('mirror:B', 'root-missing')],
          says: 'mirror:A root-missing, mirror:B root-missing; ; 2',
        },
        { causes: [of('mirror:B', 'root-missing')], says: '; mirror:A root-missing; 1' },
      ],
    ],
    [
      'another code under a key is another cause, each said once',
      [
        { causes: [of('mirror:A', 'root-missing')], says: 'mirror:A root-missing; ; 1' },
        { causes: [of('mirror:A', 'root-mismatch')], says: 'mirror:A root-mismatch; ; 1' },
        { causes: [of('mirror:A', 'root-missing')], says: undefined },
        { says: '; mirror:A root-mismatch; 0' },
      ],
    ],
    [
      'what is not judged is not over',
      [
        { causes: [of('files:A')], says: 'files:A; ; 1' },
        { judged: new Set(['files:B']), says: undefined },
        { causes: [of('files:A')], says: undefined },
        { says: '; files:A; 0' },
      ],
    ],
    [
      'a removed mirror is forgotten in silence',
      [{ causes: [of('files:A')], says: 'files:A; ; 1' }, { mirrors: [], says: undefined }, { says: undefined }],
    ],
    [
      'a mirror that is behind for too long is said, and that it is no longer',
      [
        { mirrors: mirrors('up-to-date'), nowMs: 0, says: undefined },
        { mirrors: mirrors('behind', DAY_MS - 1), nowMs: DAY_MS - 1, says: undefined },
        { mirrors: mirrors('behind', DAY_MS), nowMs: DAY_MS, says: 'overdue:A, overdue:B; ; 2' },
        { mirrors: mirrors('behind', 2 * DAY_MS), nowMs: 2 * DAY_MS, says: undefined },
        { mirrors: mirrors('unknown'), nowMs: 3 * DAY_MS, says: undefined },
        { mirrors: mirrors('up-to-date'), nowMs: 4 * DAY_MS, says: '; overdue:A, overdue:B; 0' },
      ],
    ],
    [
      'a mirror is behind from its first sight on',
      [
        { mirrors: mirrors('behind', 10 * DAY_MS), nowMs: 10 * DAY_MS, says: undefined },
        { mirrors: mirrors('behind', 11 * DAY_MS), nowMs: 11 * DAY_MS, says: 'overdue:A, overdue:B; ; 2' },
      ],
    ],
    [
      'a mirror that was not tried since is not overdue',
      [
        { mirrors: mirrors('up-to-date'), nowMs: 0, says: undefined },
        { mirrors: mirrors('behind', HOUR_MS), nowMs: 6 * DAY_MS, says: undefined },
        { mirrors: mirrors('behind', 7 * DAY_MS), nowMs: 7 * DAY_MS, says: 'overdue:A, overdue:B; ; 2' },
      ],
    ],
    [
      'a paused mirror is not overdue',
      [
        { mirrors: mirrors('paused'), nowMs: 0, says: undefined },
        { mirrors: mirrors('paused'), nowMs: 5 * DAY_MS, says: undefined },
        { mirrors: mirrors('behind', 5 * DAY_MS + 1), nowMs: 5 * DAY_MS + 1, says: undefined },
      ],
    ],
    [
      'a cause that was said explains that a mirror is behind',
      [
        {
          mirrors: mirrors('behind'),
          nowMs: 0,
          causes: [of('mirror:A', 'root-missing')],
          says: 'mirror:A root-missing; ; 1',
        },
        {
          mirrors: mirrors('behind', DAY_MS),
          nowMs: DAY_MS,
          causes: [of('mirror:A', 'root-missing')],
          says: 'overdue:B; ; 2',
        },
      ],
    ],
    [
      'a clock that was set back by years loses nothing',
      [
        { mirrors: mirrors('up-to-date'), nowMs: 9_000 * DAY_MS, causes: [of('store')], says: 'store; ; 1' },
        { mirrors: mirrors('behind', DAY_MS), nowMs: DAY_MS, says: '; store; 0' },
        { mirrors: mirrors('behind', 3 * DAY_MS), nowMs: 3 * DAY_MS, says: 'overdue:A, overdue:B; ; 2' },
      ],
    ],
  ]
  test.each(cases)('%s', (_, steps) => follow(steps))

  test('without a time no mirror is overdue', () => {
    follow(
      [
        { mirrors: mirrors('up-to-date'), nowMs: 0, says: undefined },
        { mirrors: mirrors('behind', 99 * DAY_MS), nowMs: 99 * DAY_MS, says: undefined },
      ],
      null,
    )
  })

  test.each(['constructor', '__proto__'])('a mirror is not overdue at first sight, whatever its name: %s', (name) => {
    const seen = (nowMs: number): Situation => {
      const behind = { name, state: 'behind', triedAt: nowMs } as const
      return { nowMs, causes: [], judged: new Set(), mirrors: [behind] }
    }
    const first = decideNotice(NOTHING_ANNOUNCED, seen(0), DAY_MS)
    expect(first.notice).toBeUndefined()
    expect(noticeState.safeParse(first.state).success).toBe(true)
    expect(decideNotice(first.state, seen(DAY_MS), DAY_MS).notice?.failures).toMatchObject([
      { key: `overdue:${name}`, message: `${name} has not been up to date for 24h 00m` },
    ])
  })

  test('the end of a problem that was recorded without a code is said', () => {
    const message = 'the disk is full'
    const before = { ...NOTHING_ANNOUNCED, announced: [{ key: 'store', codes: [], message }] }
    const seen = { nowMs: 0, causes: [], judged: new Set(KEYS), mirrors: mirrors('up-to-date') }
    expect(decideNotice(before, seen, null).notice?.recoveries).toEqual([{ key: 'store', code: '', message }])
  })

  test('a notice that reached nobody is said again after a while', () => {
    const seen = (nowMs: number) => ({
      nowMs,
      causes: [of('store')],
      judged: new Set(KEYS),
      mirrors: mirrors('unknown'),
    })
    const first = decideNotice(NOTHING_ANNOUNCED, seen(0), null)
    const failed = afterFailedNotice(NOTHING_ANNOUNCED, first.state, 0)
    expect(decideNotice(failed, seen(RETRY_MS - 1), null).notice).toBeUndefined()
    expect(decideNotice(failed, seen(RETRY_MS), null).notice?.failures).toEqual([of('store')])
    // A clock that was set back must not silence it for longer.
    expect(decideNotice(failed, seen(-DAY_MS), null).notice?.failures).toEqual([of('store')])
  })
})

const cause = fc.constantFrom(
  of('service', 'x'),
  of('service', 'y'),
  of('store'),
  of('mirror:A', 'x'),
  of('files:A'),
  of('files:B'),
)
const step = fc.record({
  afterMs: fc.integer({ min: -HOUR_MS, max: HOUR_MS }),
  causes: fc.uniqueArray(cause, { selector: ({ key }) => key }),
  judged: fc.subarray(KEYS),
  states: fc.tuple(
    fc.constantFrom('up-to-date', 'behind', 'paused', 'unknown'),
    fc.constantFrom('up-to-date', 'behind'),
  ),
  isLost: fc.boolean(),
})

describe('any sequence of observations', () => {
  test('no cause is said twice without its end between', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const said = new Set<string>()
        for (const { notice } of decideAll(steps.map((one) => ({ ...one, isLost: false })))) {
          for (const { key } of notice?.recoveries ?? [])
            for (const one of said) if (one.startsWith(`${key} `)) said.delete(one)
          for (const { key, code } of notice?.failures ?? []) {
            expect(said).not.toContain(`${key} ${code}`)
            said.add(`${key} ${code}`)
          }
        }
      }),
    )
  })

  test('a cause that comes and goes every minute notifies ten times an hour', () => {
    const steps = Array.from({ length: 181 }, (_, minute) => {
      const causes = minute % 2 === 0 ? [of('store')] : []
      return { afterMs: 60_000, causes, judged: KEYS, states: ['unknown'] as const, isLost: false }
    })
    const decided = decideAll(steps)
    const sent = decided.flatMap(({ notice, nowMs }) => (notice ? [nowMs] : []))
    for (const from of sent) {
      const within = sent.filter((at) => at >= from && at - from < HOUR_MS)
      expect(within.length).toBeLessThanOrEqual(MAX_NOTICES_PER_HOUR)
    }
    expect(sent.length).toBeGreaterThanOrEqual(3 * MAX_NOTICES_PER_HOUR)
    expect(decided.at(-1)?.state.announced).toHaveLength(1)
  })

  test('in the end what was said is what is the case', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        const decided = decideAll(steps)
        const last = steps.at(-1)
        const { state = NOTHING_ANNOUNCED, nowMs = 0 } = decided.at(-1) ?? {}
        const causes = last?.causes ?? []
        const seen = { nowMs: nowMs + 2 * HOUR_MS, causes, judged: new Set(KEYS), mirrors: mirrors('up-to-date') }
        const keys = decideNotice(state, seen, DAY_MS).state.announced.map(({ key }) => key)
        expect(new Set(keys)).toEqual(new Set(causes.map(({ key }) => key)))
      }),
    )
  })
})

interface AnyStep {
  readonly afterMs: number
  readonly causes: readonly Cause[]
  readonly judged: readonly string[]
  readonly states: readonly MirrorSituation['state'][]
  /** The notice reaches nobody. */
  readonly isLost: boolean
}

function decideAll(steps: readonly AnyStep[]) {
  let state: NoticeState = NOTHING_ANNOUNCED
  let nowMs = 100 * DAY_MS
  return steps.map(({ afterMs, causes, judged, states, isLost }) => {
    nowMs += afterMs
    const observed = states.map((one, index) => ({ name: 'AB'[index] ?? '', state: one, triedAt: nowMs }))
    const decision = decideNotice(state, { nowMs, causes, judged: new Set(judged), mirrors: observed }, HOUR_MS)
    state = decision.notice && isLost ? afterFailedNotice(state, decision.state, nowMs) : decision.state
    return { notice: decision.notice, state, nowMs }
  })
}
