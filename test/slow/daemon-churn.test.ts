/** A directory that is changed at random under a real daemon. SHELFD_CHURN_SECONDS and SHELFD_CHURN_FILES make it longer and larger. */
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { accountChurn, type ChurnAccount, Churner } from '../support/churn.ts'
import { attachDaemon, configure, isIdle, startDaemon } from '../support/daemon.ts'
import { homeOnService } from '../support/home-on-service.ts'
import { readLibrary } from '../support/library-contents.ts'
import { seededRandom } from '../support/random.ts'

const CHURN_MS = Number(process.env.SHELFD_CHURN_SECONDS ?? 20) * 1_000
const FILES = Number(process.env.SHELFD_CHURN_FILES ?? 2_000)
const SETTLE_MS = 1_000
/** Between two changes, so that there are about a hundred in a second. */
const INTERVAL_MS = 10
/** A content that stayed unchanged for longer must be in the library: time to settle, to look, and to scan on a busy machine. */
const SURELY_SEEN_MS = 20_000
/** For ten thousand files, too, on a busy machine. */
const MAX_WAIT_MS = 180_000

test('a tree changed at random ends exactly mirrored [P19]', { timeout: CHURN_MS + 3 * MAX_WAIT_MS }, async () => {
  const { service, home, root } = await homeOnService({})
  const churner = new Churner(root, join(home.path, 'elsewhere'), seededRandom(20_261_121))
  churner.fill(FILES)
  configure(home, {
    mirrors: [{ path: root, library: 'Research', settle: `${SETTLE_MS}ms`, rescan: '20s' }],
    limits: { newPerRun: 'none', newPerDay: 'none' },
  })
  const daemon = attachDaemon(await startDaemon(home), home.stateDir, MAX_WAIT_MS)
  await daemon.until('the first pass is over', isIdle)

  const endMs = performance.now() + CHURN_MS
  while (performance.now() < endMs) {
    churner.step()
    await sleep(INTERVAL_MS)
  }
  await daemon.until('all is settled', isIdle)
  churner.settle()
  await daemon.until('all is settled again', isIdle)
  const missed = (await daemon.status()).mirrors[0]?.missedByWatcher
  const { exitCode } = await daemon.stop()
  expect(exitCode).toBe(0)

  const resources = readLibrary(service.dataDir).map(({ sha256 }) => sha256)
  const spans = { settleMs: SETTLE_MS, surelySeenMs: SURELY_SEEN_MS }
  const exact: ChurnAccount = { twice: [], missing: [], overlooked: [], fleeting: [] }
  expect(accountChurn([{ root, churner }], resources, spans)).toEqual(exact)
  const uploads = service.requests.filter(({ route }) => route === 'uploadFile')
  expect(uploads).toHaveLength(resources.length)
  expect(churner.changes).toBeGreaterThan(CHURN_MS / INTERVAL_MS / 4)
  expect(missed, 'changes that only scans found').toBeLessThan(churner.changes / 100)

  const [report] = (await home.json(['report'])).mirrors
  expect(report).toMatchObject({ listing: 'complete' })
  const { 'in-sync': inSync, superseded, ...others } = report.counts
  expect(
    Object.values(others).every((count) => count === 0),
    JSON.stringify(report.counts),
  ).toBe(true)
  expect(inSync).toBe(churner.fileCount)
  expect(superseded).toBeGreaterThan(0)
})
