import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Moment } from '../../src/foundation/clock.ts'
import { ClockHistory, type UploadRange } from '../../src/rules/clock-history.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const LIMIT = 3

type Step =
  | { readonly kind: 'send'; readonly count: number }
  | { readonly kind: 'pass' | 'jump'; readonly ms: number }
  /** Another process, whose monotonic clock begins anew. */
  | { readonly kind: 'restart' }

interface Upload extends Moment {
  readonly id: number
  readonly process: number
}

/** A machine that sends what the limit of a day allows, with the clocks and the memory of its processes. */
class Machine {
  readonly uploads: Upload[] = []
  #history = new ClockHistory()
  #process = 0
  #wallMs = 1e12
  #monotonicMs = 0

  do(step: Step): void {
    if (step.kind === 'send') for (let left = step.count; left > 0 && this.count() < LIMIT; left -= 1) this.#send()
    if (step.kind === 'pass' || step.kind === 'jump') this.#wallMs += step.ms
    if (step.kind === 'pass') this.#monotonicMs += step.ms
    if (step.kind === 'restart') {
      this.#process += 1
      this.#monotonicMs = 7
      this.#history = new ClockHistory()
    }
  }

  count(): number {
    const now = { wallMs: this.#wallMs, monotonicMs: this.#monotonicMs }
    const ranges = this.#history.listWithin(DAY_MS, now)
    const found = this.uploads.flatMap((upload) => ranges.filter((range) => isIn(upload, range)).map(() => upload))
    expect(new Set(found).size, 'none is counted twice').toBe(found.length)
    return found.length
  }

  #send(): void {
    const id = this.uploads.length + 1
    const now = { wallMs: this.#wallMs, monotonicMs: this.#monotonicMs }
    this.uploads.push({ id, process: this.#process, ...now })
    this.#history.note(id, now)
  }
}

function isIn({ id, wallMs }: Upload, { firstId, lastId, afterMs, beforeMs }: UploadRange): boolean {
  return firstId <= id && id <= lastId && afterMs < wallMs && wallMs < beforeMs
}

/** The most uploads within 24 hours of one clock. */
function mostInADay(uploads: readonly Upload[], timeOf: (upload: Upload) => number): number {
  const times = uploads.map(timeOf)
  return Math.max(0, ...times.map((start) => times.filter((time) => start <= time && time < start + DAY_MS).length))
}

const someMs = fc.oneof(fc.integer({ min: 0, max: 3_000 }), fc.integer({ min: 0, max: 3 * DAY_MS }))
const farMs = fc.oneof(someMs, fc.constantFrom(2 * HOUR_MS, DAY_MS, 3_650 * DAY_MS))
const step = fc.oneof<fc.Arbitrary<Step>[]>(
  fc.record({ kind: fc.constant('send'), count: fc.integer({ min: 1, max: LIMIT + 1 }) }),
  fc.record({ kind: fc.constant('pass'), ms: someMs }),
  fc.record({ kind: fc.constant('jump'), ms: farMs }),
  fc.record({ kind: fc.constant('jump'), ms: farMs.map((ms) => -ms) }),
  fc.record({ kind: fc.constant('restart') }),
)
const RUNS = { numRuns: 2_000 }

describe('the limit of a day', () => {
  test('no 24 hours of either clock hold more uploads than the limit, however the wall clock is set [P20]', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const machine = new Machine()
        for (const each of steps) machine.do(each)
        expect(mostInADay(machine.uploads, ({ wallMs }) => wallMs)).toBeLessThanOrEqual(LIMIT)
        for (const ofProcess of Map.groupBy(machine.uploads, ({ process }) => process).values())
          expect(mostInADay(ofProcess, ({ monotonicMs }) => monotonicMs)).toBeLessThanOrEqual(LIMIT)
      }),
      RUNS,
    )
  })

  test('two days after any jumps the limit leaves room again in the same process', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), farMs, (steps, ms) => {
        const machine = new Machine()
        for (const each of steps) if (each.kind !== 'restart') machine.do(each)
        machine.do({ kind: 'jump', ms: -ms })
        const wallTimes = machine.uploads.map(({ wallMs }) => wallMs)
        // What the wall clock shows as less than a day ago or ahead counts by definition.
        machine.do({ kind: 'jump', ms: Math.max(0, ...wallTimes) })
        machine.do({ kind: 'pass', ms: 2 * DAY_MS })
        expect(machine.count()).toBe(0)
      }),
      RUNS,
    )
  })

  test('the next day is as long as that of the clock that lags', () => {
    const history = new ClockHistory()
    history.note(1, { wallMs: 1_000_000, monotonicMs: 0 })
    const delays = (wallMs: number) =>
      history.listWithin(DAY_MS, { wallMs, monotonicMs: 0 }).map(({ delayMs }) => delayMs)
    expect(delays(1_000_000)).toEqual([0, 0])
    expect(delays(1_000_000 + HOUR_MS)).toEqual([0, HOUR_MS])
    expect(delays(1_000_000 - HOUR_MS)).toEqual([0, 0, -HOUR_MS])
  })

  test('a clock that is set all the time costs bounded memory', () => {
    const history = new ClockHistory()
    for (let id = 1; id <= 1_000; id += 1) history.note(id, { wallMs: id * 10_000, monotonicMs: id })
    const ranges = history.listWithin(DAY_MS, { wallMs: 1_000 * 10_000, monotonicMs: 1_000 })
    expect(ranges.length).toBeLessThanOrEqual(1 + 64)
    for (const id of [1, 500, 1_000])
      expect(
        ranges.filter((range) => isIn({ id, process: 0, wallMs: id * 10_000, monotonicMs: id }, range)),
      ).toHaveLength(1)
  })
})
