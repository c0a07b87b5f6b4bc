/** A daemon through what months bring: services that go away and come back, and signals at any moment. */
import { describe, expect, test } from 'vitest'
import { configure, isQuiet, startDaemon } from '../support/daemon.ts'
import { type FaultyService, startFaultyService } from '../support/faulty-service.ts'
import { temporaryHome } from '../support/home.ts'
import { readLibrary } from '../support/library-contents.ts'
import { seededRandom } from '../support/random.ts'
import { manyFiles } from '../support/temporary.ts'

const CONTENTS = 60
/** SHELFD_SIGNALS makes it more. */
const SIGNALS = Number(process.env.SHELFD_SIGNALS ?? 24)
const MOST_LOG_LINES = 40

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

describe('a service that comes and goes', () => {
  test('gets everything once, and the log stays short', { timeout: 120_000 }, async () => {
    await using service = await startFaultyService({ library: 'Research', fault: () => 'reset-before' })
    const home = homeOf(service)
    const daemon = await startDaemon(home)
    await expect.poll(() => service.requests.length, { timeout: 30_000 }).toBeGreaterThan(3)
    expect(countTaken(service)).toBe(0)

    const random = seededRandom(3)
    service.fault = () => (random() < 0.3 ? 'throttled' : undefined)
    await expect.poll(() => countTaken(service), { timeout: 60_000 }).toBeGreaterThan(CONTENTS / 3)
    service.fault = () => 'unavailable'
    const before = service.requests.length
    home.write('Papers', { 'late.md': 'written while the service was away' })
    await expect.poll(() => service.requests.length, { timeout: 30_000 }).toBeGreaterThan(before + 3)
    service.fault = () => undefined

    await daemon.until(
      'all is quiet',
      (standing) => isQuiet(standing) && readLibrary(service.dataDir).length > CONTENTS,
    )
    const { exitCode, stderr } = await daemon.stop()
    expect(exitCode).toBe(0)
    expect(readLibrary(service.dataDir)).toHaveLength(CONTENTS + 1)
    expect(countTaken(service)).toBe(CONTENTS + 1)
    expect(stderr.split('\n').length).toBeLessThan(MOST_LOG_LINES)
  })
})

describe('signals at random moments', () => {
  test('lose nothing and leave no stale lock', { timeout: 60_000 + SIGNALS * 10_000 }, async () => {
    await using service = await startFaultyService({ library: 'Research' })
    const home = homeOf(service)
    const random = seededRandom(20_261)
    let kills = 0
    for (let round = 0; round < SIGNALS; round += 1) {
      home.write('Papers', { [`round-${round}.md`]: `# Round ${round}\n` })
      const daemon = await startDaemon(home)
      const wanted = service.requests.length + Math.floor(random() * 12)
      await Promise.race([
        daemon.until('some requests', ({ mirrors }) => isPast(service, wanted, mirrors)),
        daemon.ended,
      ])
      const dice = random()
      if (dice < 0.3) daemon.child.kill('SIGHUP')
      daemon.child.kill(dice < 0.6 ? 'SIGTERM' : 'SIGKILL')
      const { exitCode } = await daemon.ended
      if (exitCode === null) kills += 1
      else expect(exitCode).toBe(0)
    }
    const last = await startDaemon(home)
    await last.until('all is quiet', (standing) => isQuiet(standing))
    expect(await last.stop()).toMatchObject({ exitCode: 0 })
    const stored = readLibrary(service.dataDir)
    expect(stored).toHaveLength(CONTENTS + SIGNALS)
    expect(kills).toBeGreaterThan(SIGNALS / 8)
    // What was on its way at a kill is looked for; whatever the library took is not sent again.
    expect(countTaken(service)).toBeLessThanOrEqual(CONTENTS + SIGNALS + kills * 4)
    expect(stored.filter(({ places }) => places.length > 1)).toEqual([])
    expect(await home.shelfd(['report', '--check', '--only', 'local-only,needs-attention'])).toMatchObject({
      exitCode: 0,
    })
  })
})

/** So many requests were made, or the daemon has nothing more to ask. */
function isPast(service: FaultyService, wanted: number, mirrors: readonly { readonly state: string }[]): boolean {
  return service.requests.length >= wanted || mirrors.every(({ state }) => state === 'idle')
}
