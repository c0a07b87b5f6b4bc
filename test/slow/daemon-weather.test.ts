/** A daemon that meets in minutes the faults of months: outages of its service, and signals at any moment. */
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { configure, isIdle, startDaemon } from '../support/daemon.ts'
import { type FaultyService, startFaultyService } from '../support/faulty-service.ts'
import { type Home, temporaryHome } from '../support/home.ts'
import { readLibrary } from '../support/library-contents.ts'
import { seededRandom } from '../support/random.ts'
import { manyFiles } from '../support/temporary.ts'

const CONTENTS = 60
/** SHELFD_SIGNALS sets another number. */
const SIGNALS = Number(process.env.SHELFD_SIGNALS ?? 16)
const MAX_LOG_LINES = 40
/** SHELFD_OUTAGE_MINUTES stretches the outage: 60 is an hour. Without it each part ends as soon as the daemon has noticed it. */
const OUTAGE_MS = Number(process.env.SHELFD_OUTAGE_MINUTES ?? 0) * 60_000
const MAX_WAIT_MS = 60_000
/** Between two changes; about a thousand in a long outage. */
const CHANGE_INTERVAL_MS = Math.max(250, OUTAGE_MS / 1_000)

/** A home whose configuration mirrors 80 files into the library of a service. */
function homeOf(service: FaultyService) {
  const home = temporaryHome(service)
  const root = home.write('Papers', manyFiles(80, CONTENTS))
  configure(home, { mirrors: [{ path: root, library: 'Research', settle: '200ms' }] })
  return home
}

function countTaken(service: FaultyService): number {
  return service.requests.filter(({ route, status }) => route === 'uploadFile' && status !== undefined).length
}

test('an unsteady service gets each content once, with few log lines [P21]', {
  timeout: 180_000 + OUTAGE_MS * 1.2,
}, async () => {
  await using service = await startFaultyService({ library: 'Research', fault: () => 'reset-before' })
  const home = homeOf(service)
  const daemon = await startDaemon(home)
  const changer = new Changer(home)
  await changer.during('away at first', 0.1, () => service.requests.length > 3)
  expect(countTaken(service)).toBe(0)

  const random = seededRandom(3)
  service.fault = () => (random() < 0.3 ? 'throttled' : undefined)
  await changer.during('back and throttling', 0.4, () => countTaken(service) > CONTENTS / 3)
  service.fault = () => 'unavailable'
  const before = service.requests.length
  await changer.during('away again', 0.25, () => service.requests.length > before + 3)
  service.fault = () => undefined
  await changer.during(
    'back for good',
    0.25,
    () => readLibrary(service.dataDir).length > CONTENTS + changer.changes / 2,
  )

  const all = CONTENTS + changer.changes
  await daemon.until('all is settled', (status) => isIdle(status) && readLibrary(service.dataDir).length >= all)
  const { exitCode, stderr } = await daemon.stop()
  if (OUTAGE_MS > 0) process.stdout.write(`${changer.changes} changes; the log:\n${stderr}`)
  expect(exitCode).toBe(0)
  expect(readLibrary(service.dataDir)).toHaveLength(all)
  expect(countTaken(service)).toBe(all)
  // Each file that was sent is a line; outages must not fill the log.
  const others = stderr.split('\n').filter((line) => !/ info {2}sent mirror=/.test(line))
  expect(others.length).toBeLessThan(MAX_LOG_LINES)
})

test('a daemon ended at random loses nothing and leaves no lock [P1, P16, F-PR-03]', {
  timeout: 60_000 + SIGNALS * 10_000,
}, async () => {
  await using service = await startFaultyService({ library: 'Research' })
  const home = homeOf(service)
  const random = seededRandom(20_261)
  let kills = 0
  for (let round = 0; round < SIGNALS; round += 1) {
    home.write('Papers', { [`round-${round}.md`]: `# Round ${round}\n` })
    const daemon = await startDaemon(home)
    const wanted = service.requests.length + Math.floor(random() * 12)
    await Promise.race([daemon.until('some requests', ({ mirrors }) => isPast(service, wanted, mirrors)), daemon.ended])
    const dice = random()
    if (dice < 0.3) daemon.child.kill('SIGHUP')
    daemon.child.kill(dice < 0.6 ? 'SIGTERM' : 'SIGKILL')
    const { exitCode } = await daemon.ended
    if (exitCode === null) kills += 1
    else expect(exitCode).toBe(0)
  }
  const last = await startDaemon(home)
  await last.until('all is settled', (status) => isIdle(status))
  expect(await last.stop()).toMatchObject({ exitCode: 0 })
  const stored = readLibrary(service.dataDir)
  expect(stored).toHaveLength(CONTENTS + SIGNALS)
  expect(kills).toBeGreaterThan(SIGNALS / 8)
  // The next daemon looks for uploads that a kill interrupted, and sends none again that the library stored.
  expect(countTaken(service)).toBeLessThanOrEqual(CONTENTS + SIGNALS + kills * 4)
  expect(stored.filter(({ places }) => places.length > 1)).toEqual([])
  expect(await home.shelfd(['report', '--check', '--only', 'local-only,needs-attention'])).toMatchObject({
    exitCode: 0,
  })
})

/** Writes new files, also while the service is away. */
class Changer {
  changes = 0
  readonly #home: Home

  constructor(home: Home) {
    this.#home = home
  }

  /** Writes files for `share` of the outage and until `isNoticed`, at most a minute longer. */
  async during(what: string, share: number, isNoticed: () => boolean): Promise<void> {
    const endMs = performance.now() + OUTAGE_MS * share
    while (performance.now() < endMs || !isNoticed()) {
      if (performance.now() > endMs + MAX_WAIT_MS) throw new Error(`Waited in vain for: ${what}`)
      this.changes += 1
      this.#home.write('Papers', { [`change-${this.changes}.md`]: `written in change ${this.changes}\n` })
      await sleep(CHANGE_INTERVAL_MS)
    }
  }
}

/** Returns whether the `wanted` requests were made, or the daemon is idle. */
function isPast(service: FaultyService, wanted: number, mirrors: readonly { readonly state: string }[]): boolean {
  return service.requests.length >= wanted || mirrors.every(({ state }) => state === 'idle')
}
