/** Correctness does not depend on the wall clock (P20). */
import { describe, expect, test } from 'vitest'
import { type Clock, systemClock } from '../../src/foundation/clock.ts'
import { RunQuota } from '../../src/sync/upload/upload-plan.ts'
import { accountOf, mirrorOf, openTestEngine } from '../support/engine.ts'
import { startFaultyService } from '../support/faulty-service.ts'
import { manyFiles, temporaryDirectory, writeTree } from '../support/temporary.ts'

const TEN_YEARS_MS = 10 * 365 * 86_400_000

/** The system's clock with a wall time that is wrong by `byMs`. */
function wrongClock(): Clock & { byMs: number } {
  const clock = { ...systemClock, byMs: 0, nowMs: () => Date.now() + clock.byMs }
  return clock
}

describe('a clock that was ten years ahead', () => {
  test('a content refused while the clock was ahead is tried again [P20]', async () => {
    await using service = await startFaultyService()
    service.answer = ({ route }) => (route === 'uploadFile' ? { status: 422, body: { message: 'No' } } : undefined)
    const mirror = mirrorOf(writeTree(temporaryDirectory(), { 'a.md': 'a' }))
    const clock = wrongClock()
    clock.byMs = TEN_YEARS_MS
    await using tested = openTestEngine(service, { clock })
    expect((await tested.sync([mirror])).outcome).toBe('failures')
    clock.byMs = 0
    service.answer = () => undefined
    expect((await tested.sync([mirror])).outcome).toBe('done')
    expect(service.count('uploadFile')).toBe(2)
  })

  test('uploads that another process made while the clock was ahead count towards no limit [P20]', async () => {
    await using service = await startFaultyService()
    const root = writeTree(temporaryDirectory(), { 'a.md': 'a' })
    const clock = wrongClock()
    clock.byMs = TEN_YEARS_MS
    const stateDir = temporaryDirectory()
    const options = { stateDir, clock, limits: { newPerDay: 1 } }
    await using before = openTestEngine(service, options)
    await before.sync([mirrorOf(root)])
    await before[Symbol.asyncDispose]()
    clock.byMs = 0
    writeTree(root, { 'b.md': 'b' })
    await openTestEngine(service, options).sync([mirrorOf(root)])
    expect(service.count('uploadFile')).toBe(2)
  })
})

describe('a clock that is set while a process lives', () => {
  const HOUR_MS = 3_600_000

  test.each([
    ['back by two hours', [-2 * HOUR_MS]],
    ['back by ten years', [-TEN_YEARS_MS]],
    ['forward by two days', [48 * HOUR_MS]],
    ['forward by two days and back again', [48 * HOUR_MS, 0]],
    ['ahead, and back after a while', [TEN_YEARS_MS, 0, -2 * HOUR_MS]],
  ])('a clock set %s gives the limits of a day and of a run no more room [P20]', async (_, jumps) => {
    await using service = await startFaultyService()
    const root = writeTree(temporaryDirectory(), manyFiles(3, 3))
    const clock = wrongClock()
    await using tested = openTestEngine(service, { clock, limits: { newPerDay: 3, newPerRun: 3 } })
    await tested.sync([mirrorOf(root)])
    const [row] = tested.store.mirrors.list()
    if (!row) throw new Error('No mirror')
    writeTree(root, manyFiles(9, 9))
    for (const byMs of jumps) {
      clock.byMs = byMs
      expect(new RunQuota(tested.engine, row, { kind: 'span', sinceMs: 0 }).read()).toMatchObject({
        inRun: 3,
        inDay: 3,
      })
      const held = accountOf(await tested.sync([mirrorOf(root)]))
      expect(held.uploads).toMatchObject({ created: 0, heldBack: 6, heldBackBy: [{ limit: 'newPerDay' }] })
    }
  })
})

test('jumps of ten years between runs send each content once [P20]', async () => {
  await using service = await startFaultyService({ hasNoDuplicateRule: true })
  service.fault = ({ route, attempt }) => (route === 'uploadFile' && attempt === 1 ? 'reset-after' : undefined)
  const root = writeTree(temporaryDirectory(), { 'a.md': 'a' })
  const clock = wrongClock()
  await using tested = openTestEngine(service, { clock })
  for (const [run, byMs] of [TEN_YEARS_MS, -TEN_YEARS_MS, 0, -TEN_YEARS_MS, TEN_YEARS_MS, 0].entries()) {
    clock.byMs = byMs
    writeTree(root, { [`${run}.md`]: `run ${run}`, 'changing.md': `version ${run}` })
    const result = await tested.sync([mirrorOf(root)])
    expect({ run, outcome: result.outcome, files: accountOf(result).files.scanned }).toEqual({
      run,
      outcome: 'done',
      files: run + 3,
    })
  }
  expect(service.count('uploadFile')).toBe(1 + 6 + 6)
  const { rows } = await tested.report([mirrorOf(root)])
  expect(rows.filter(({ entry }) => entry.class === 'in-sync')).toHaveLength(8)
  expect(rows.filter(({ entry }) => entry.class === 'superseded')).toHaveLength(5)
  expect(rows).toHaveLength(13)
})
