import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { nodeFileSystem } from '../../../src/local/read/file-system.ts'
import type { WatchMethod } from '../../../src/sync/continuous/mirror-watch.ts'
import type { Engine } from '../../../src/sync/engine.ts'
import { mirrorOf, startEngine } from '../../support/engine.ts'
import { manualClock } from '../../support/manual-clock.ts'
import { controllerSettings, manualWatch, startController } from '../../support/mirror-controller.ts'
import { temporaryDirectory, writeTree } from '../../support/temporary.ts'

const MINUTE_MS = 60_000
const STEP_MS = 5_000

/** A controller whose commands do something to its directory at each moment, and what they have done. */
async function hookedMirror(
  act: (root: string, moment: 'before' | 'after', hint: (name: string) => void) => void,
  { isPolled = false } = {},
) {
  const root = writeTree(join(temporaryDirectory(), 'Papers'), { 'a.md': 'a' })
  const clock = manualClock(Date.now() + MINUTE_MS)
  const { engine, service } = await startEngine({}, { service: { library: 'Test' }, clock, fs: nodeFileSystem })
  const watch = manualWatch()
  const begun: number[] = []
  const hooks: Engine['hooks'] = {
    has: () => true,
    run: async (moment) => {
      if (moment === 'before') begun.push(clock.monotonicMs())
      act(root, moment, (name) => watch.events.onHint(name))
      return undefined
    },
  }
  const means: WatchMethod = isPolled
    ? { ...watch.means, choose: () => ({ backEnd: 'poll', reason: '' }) }
    : watch.means
  const settings = controllerSettings(mirrorOf(root), means, { settleMs: 5_000, pollIntervalMs: MINUTE_MS / 2 })
  const { controller } = startController({ ...engine, hooks }, settings)
  const passUntil = async (isSo: () => boolean) => {
    while (!isSo()) {
      await clock.advance(1)
      await setImmediate()
    }
  }
  const finish = () => passUntil(() => controller.status.state === 'idle' && controller.status.lastSuccessAt !== null)
  await finish()
  const pass = async (durationMs: number) => {
    const endMs = clock.monotonicMs() + durationMs
    while (clock.monotonicMs() < endMs) {
      await clock.advance(STEP_MS)
      await finish()
    }
  }
  return { root, watch, begun, controller, service, pass, passUntil }
}

describe('a watched mirror with commands', () => {
  test('runs that its own commands cause come more and more rarely', async () => {
    const { begun, pass } = await hookedMirror((_, __, hint) => hint('a.md'))
    await pass(29 * MINUTE_MS)
    expect(begun.map((atMs) => Math.round(atMs / MINUTE_MS))).toEqual([0, 1, 3, 7, 15])
  })

  test('commands that change a file each time run once a minute', async () => {
    let count = 0
    const { begun, pass, passUntil, service } = await hookedMirror((root, moment, hint) => {
      if (moment === 'before') return
      count += 1
      writeFileSync(join(root, 'log.md'), `${count}`)
      hint('log.md')
    })
    await pass(5 * MINUTE_MS)
    expect(begun.length).toBeLessThanOrEqual(6)
    await passUntil(() => service.count('uploadFile') > 1)
  })

  test('a mirror that is scanned instead of watched rests no longer than until its next scan', async () => {
    const { begun, pass } = await hookedMirror(() => {}, { isPolled: true })
    await pass(5 * MINUTE_MS)
    expect(begun.length).toBeGreaterThan(7)
  })

  test('a change after a quiet time is sent once it has settled', async () => {
    const { root, watch, begun, pass, passUntil, service } = await hookedMirror(() => {})
    await pass(10 * MINUTE_MS)
    writeFileSync(join(root, 'b.md'), 'b')
    watch.events.onHint('b.md')
    await pass(10_000)
    expect(begun.length).toBe(2)
    await passUntil(() => service.count('uploadFile') === 2)
  })

  test('a run that is asked for waits for nothing', async () => {
    const { begun, controller, pass } = await hookedMirror((_, __, hint) => hint('a.md'))
    await pass(MINUTE_MS / 2)
    controller.wake()
    await pass(1_000)
    expect(begun.length).toBe(2)
  })
})
