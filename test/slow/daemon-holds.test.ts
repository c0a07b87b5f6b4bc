import { renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { DaemonMirrorStatus, DaemonStatus } from '../../src/sync/continuous/controller-status.ts'
import { configure, isIdle, type RunningDaemon, startDaemon } from '../support/daemon.ts'
import type { FaultyService } from '../support/faulty-service.ts'
import type { Home, Variables } from '../support/home.ts'
import { homeOnService } from '../support/home-on-service.ts'
import { manyFiles, temporaryDirectory } from '../support/temporary.ts'

/** What a real daemon holds back until its time: limits, pauses, maintenance and schedules, and a configuration read again. */

const MINUTE_MS = 60_000
const DAY_MS = 24 * 60 * MINUTE_MS
/** Longer than `until` waits, so that a failure names the awaited condition. */
const PATIENT = { timeout: 180_000 }

/** A home with one mirror of `files` contents, and how to change its configuration. */
async function homeWith(files: number) {
  const { service, home } = await homeOnService()
  const path = home.write('Papers', manyFiles(files, files))
  const mirror = { name: 'papers', path, library: 'Research', settle: '100ms' }
  const change = (mirrorMore: object, more: object = {}) =>
    configure(home, { mirrors: [{ ...mirror, ...mirrorMore }], timeZone: 'UTC', ...more })
  return { service, home, change }
}

function onlyMirror({ mirrors: [mirror] }: DaemonStatus): DaemonMirrorStatus {
  if (!mirror) throw new Error('The daemon has no mirror')
  return mirror
}

/** Waits until the mirror was scanned and is held back for this reason. */
async function untilHeld(daemon: RunningDaemon, code: string): Promise<DaemonMirrorStatus> {
  const isLocked = ({ state, reason, lastScanAt }: DaemonMirrorStatus) =>
    state === 'held' && reason?.code === code && lastScanAt !== null
  return onlyMirror(await daemon.until(`held by ${code}`, (now) => isLocked(onlyMirror(now))))
}

/** Returns how many contents wait to be sent, by `status`. */
async function countWaiting(home: Home): Promise<number> {
  return (await home.json(['status'])).mirrors[0].queue.contents
}

/** Makes the daemon read its configuration again, and waits until its log reports the outcome. */
async function hangUp(daemon: RunningDaemon, logLine: RegExp): Promise<void> {
  daemon.child.kill('SIGHUP')
  await expect.poll(() => daemon.log()).toMatch(logLine)
}

/** Waits until the service has received `count` uploads. */
async function untilSent(daemon: RunningDaemon, service: FaultyService, count: number): Promise<void> {
  await daemon.until(`${count} uploads`, () => service.count('uploadFile') === count)
}

/** Variables of a process whose wall clock is ahead of the true one. */
function clockAhead(byMs: number): Variables {
  const script = `const now = Date.now; Date.now = () => now() + ${byMs}`
  return { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(script)}` }
}

describe('limits', () => {
  test('limits hold uploads back, also after a restart', PATIENT, async () => {
    const { service, home, change } = await homeWith(8)
    change({}, { limits: { newPerRun: 3, newPerDay: 5 } })
    const first = await startDaemon(home)
    const { reason } = await untilHeld(first, 'limit-reached')
    expect(reason?.message).toMatch(/5 new files are held back.* allows more from 20.*"shelfd sync papers"/)
    const [report] = (await home.json(['report', '--only', 'local-only'])).mirrors
    expect(report.entries.map((entry: { reason: string }) => entry.reason)).toEqual(
      Array(5).fill(expect.stringMatching(/^held back .* allows more from 20/)),
    )
    expect((await home.shelfd(['status'])).stdout).toMatch(/held: 5 new files[\s\S]*to send +5 files/)
    await first.stop()
    const daemon = await startDaemon(home)
    await untilHeld(daemon, 'limit-reached')
    expect(service.count('uploadFile')).toBe(3)

    expect((await home.sync(['papers'])).mirror.uploads).toMatchObject({ created: 2, heldBack: 3 })
    expect((await home.sync(['papers'])).mirror.uploads).toMatchObject({ created: 0, heldBack: 3 })
    await untilHeld(daemon, 'limit-reached')
    change({}, { limits: { newPerRun: 'none', newPerDay: 'none' } })
    await hangUp(daemon, /read again changes=.*limits\.newPerDay: 5 → none.*limits\.newPerRun: 3 → none/)
    await untilSent(daemon, service, 8)
  })
})

describe('a wall clock that is set', () => {
  test(
    'a clock set back gives the limit of a day no more room, while the daemon runs and after it',
    PATIENT,
    async () => {
      const { service, home, change } = await homeWith(8)
      change({}, { limits: { newPerDay: 5 } })
      const clock = settableClock()
      const first = await startDaemon(home, clock.env)
      await untilHeld(first, 'limit-reached')
      for (const [index, hours] of [-2, 48, -1].entries()) {
        clock.set(hours * 60 * MINUTE_MS)
        home.write('Papers', { [`after ${hours}.md`]: `written by a clock ${hours} hours ahead` })
        await expect.poll(() => countWaiting(home), { timeout: MINUTE_MS }).toBe(4 + index)
        expect((await home.sync(['papers'])).mirror.uploads).toMatchObject({
          created: 0,
          heldBackBy: [{ limit: 'newPerDay' }],
        })
      }
      await first.stop()
      clock.set(-3 * 60 * MINUTE_MS)
      const second = await startDaemon(home, clock.env)
      await untilHeld(second, 'limit-reached')
      expect((await home.run(['sync', 'papers'], clock.env)).exitCode).toBe(8)
      expect(service.count('uploadFile')).toBe(5)
    },
  )
})

describe('maintenance windows', () => {
  test('a maintenance window holds uploads back while watching continues', PATIENT, async () => {
    const { service, home, change } = await homeWith(3)
    const begun = new Date(Date.now() - MINUTE_MS)
    const start = `${begun.getUTCMinutes()} ${begun.getUTCHours()} * * *`
    change({}, { maintenance: [{ start, duration: '2h' }] })
    const daemon = await startDaemon(home)
    const { reason } = await untilHeld(daemon, 'maintenance')
    expect(reason?.message).toMatch(/^maintenance until (\S+ )?\d\d:\d\d$/)
    home.write('Papers', { 'new.md': 'written meanwhile' })
    await expect.poll(() => countWaiting(home)).toBe(4)

    expect((await home.shelfd(['pause', 'papers'])).exitCode).toBe(0)
    home.write('config/shelfd', { 'config.yaml': 'mirors: []\n' })
    await hangUp(daemon, /error +cannot use the new configuration; the old one stays in force reason=.*mirors/)
    await untilHeld(daemon, 'maintenance')
    change({})
    await hangUp(daemon, /info +the configuration was read again changes=\["maintenance: [^,]*start/)
    await untilHeld(daemon, 'paused')
    expect(service.count('uploadFile')).toBe(0)
    expect((await home.shelfd(['resume'])).exitCode).toBe(0)
    await daemon.until('all is sent', isIdle)
    expect(service.count('uploadFile')).toBe(4)
    expect(await daemon.stop()).toMatchObject({ exitCode: 0 })
  })
})

describe('a maintenance window that a set clock begins', () => {
  test('a clock set into a window stops the uploads after those under way, and status says so', PATIENT, async () => {
    const { service, home, change } = await homeWith(8)
    const start = `0 ${new Date(Date.now() + 12 * 60 * MINUTE_MS).getUTCHours()} * * *`
    change({}, { maintenance: [{ start, duration: '1h' }], limits: { transfers: 1 } })
    const { promise: mayGoOn, resolve: goOn } = Promise.withResolvers<void>()
    service.onUploadBegun = () => (service.count('uploadFile') === 2 ? mayGoOn : undefined)
    const clock = settableClock()
    const daemon = await startDaemon(home, clock.env)
    await expect.poll(() => service.count('uploadFile')).toBe(2)
    const nowMs = Date.now()
    const begun = new Date(nowMs)
    begun.setUTCHours(new Date(nowMs + 12 * 60 * MINUTE_MS).getUTCHours(), 30, 0, 0)
    clock.set(begun.getTime() - nowMs)
    await daemon.until('maintenance', (now) => onlyMirror(now).reason?.code === 'maintenance')
    goOn()
    await untilHeld(daemon, 'maintenance')
    expect((await home.shelfd(['status'])).stdout).toMatch(/: maintenance until (\S+ )?\d\d:\d\d /)
    // The one under way, and the next one where it was taken already.
    expect(service.count('uploadFile')).toBeLessThanOrEqual(3)
    clock.set(0)
    await untilSent(daemon, service, 8)
  })
})

describe('schedules', () => {
  test('a scheduled batch sends when due and not before', PATIENT, async () => {
    const { service, home, change } = await homeWith(2)
    change({ schedule: '* * * * *' })
    const sinceFullMinuteMs = Date.now() % MINUTE_MS
    const aheadMs = (MINUTE_MS + 48_000 - sinceFullMinuteMs) % MINUTE_MS
    const daemon = await startDaemon(home, clockAhead(aheadMs))
    await untilSent(daemon, service, 2)
    const { nextRunAt } = await untilHeld(daemon, 'scheduled')
    let sentAt = 0
    service.onUploadBegun = () => {
      sentAt = Date.now() + aheadMs
    }
    home.write('Papers', { 'new.md': 'written between two batches' })
    await expect.poll(() => sentAt, { timeout: 2 * MINUTE_MS }).toBeGreaterThan(0)
    expect(sentAt).toBeGreaterThanOrEqual(nextRunAt ?? Number.POSITIVE_INFINITY)
    expect(nextRunAt ?? 1).toSatisfy((time: number) => time % MINUTE_MS === 0)
  })

  test('a batch missed by a stopped daemon runs once at its start', PATIENT, async () => {
    const { service, home, change } = await homeWith(2)
    const farMs = Date.now() + DAY_MS / 2
    change({ schedule: `0 ${new Date(farMs).getUTCHours()} * * *` })
    const first = await startDaemon(home)
    await untilSent(first, service, 2)
    await untilHeld(first, 'scheduled')
    expect((await home.shelfd(['status'])).stdout).toMatch(/^ {2}✓ up to date .* · 2 files searchable$/m)
    await first.stop()
    home.write('Papers', { 'new.md': 'written while it was stopped' })
    const second = await startDaemon(home)
    await untilHeld(second, 'scheduled')
    await expect.poll(() => countWaiting(home)).toBe(1)
    expect((await home.shelfd(['status'])).stdout).toMatch(
      /^ {2}→ 1 file waits for the batch at (\S+ )?\d\d:00 · 2 files searchable$/m,
    )
    await second.stop()
    expect(service.count('uploadFile')).toBe(2)
    const third = await startDaemon(home, clockAhead(DAY_MS))
    await untilSent(third, service, 3)
    await untilHeld(third, 'scheduled')
  })
})

/** The wall clock of processes that run with `env`: a test sets it while they run. Their monotonic clock goes on. */
interface SettableClock {
  readonly env: Variables
  /** From now on it differs from the true time by so much. */
  set(byMs: number): void
}

function settableClock(): SettableClock {
  const file = join(temporaryDirectory(), 'clock')
  const set = (byMs: number) => {
    writeFileSync(`${file}.new`, String(byMs))
    renameSync(`${file}.new`, file)
  }
  set(0)
  const script = `import { readFileSync } from 'node:fs'
    const now = Date.now
    Date.now = () => now() + Number(readFileSync(${JSON.stringify(file)}))`
  return { env: { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(script)}` }, set }
}
