/** How an upload is reported while it is under way, and after its process is gone. */
import { describe, expect, test } from 'vitest'
import { openStore } from '../../src/store/open-store.ts'
import { readStatus as readMirrors } from '../../src/sync/report/status-of-mirrors.ts'
import { configure, startDaemon } from '../support/daemon.ts'
import type { Home } from '../support/home.ts'
import { homeOnService } from '../support/home-on-service.ts'

/** A process in the middle of an upload, which the service answers only at the end of the test. */
async function uploadWith(args: readonly string[]) {
  const { service, home, root } = await homeOnService({ 'a.md': 'pelican' })
  configure(home, { mirrors: [{ name: 'papers', path: root, library: 'Research', settle: '0s' }] })
  const { begun } = service.holdUploads()
  const running = home.start(args)
  await begun
  return { home, kill: running.kill }
}

async function look(home: Home) {
  const [status] = (await home.json(['status'])).mirrors
  const [report] = (await home.json(['report', '--offline'])).mirrors
  const { sending, inDoubt } = status.files
  const problems = status.problems.map(({ code }: { code: string }) => code)
  return { sending, inDoubt, problems, reasons: report.entries.map(({ reason }: { reason: string }) => reason) }
}

const UNDER_WAY = { sending: 1, inDoubt: 0, problems: [], reasons: ['being sent'] }
const IN_DOUBT = { sending: 0, inDoubt: 1, problems: ['upload-in-doubt'], reasons: ['in doubt'] }

describe.each([[['sync', 'papers']], [['daemon']]])('uploads of %j', (args) => {
  test('an upload is in doubt only after its process is gone [P2, F-PR-03]', async () => {
    const { home, kill } = await uploadWith(args)
    expect(await look(home)).toEqual(UNDER_WAY)
    expect((await home.shelfd(['status'])).stdout).toMatch(/sending 0 of 1 file /)
    await kill()
    expect(await look(home)).toEqual(IN_DOUBT)
  })

  test('an upload of a killed process stays in doubt for the next [F-PR-03]', async () => {
    const { home, kill } = await uploadWith(args)
    await kill()
    using store = openStore(home.stateDir)
    expect(readMirrors(store)).toMatchObject([{ files: { sending: 0, inDoubt: 1 } }])
    expect(await look(home)).toEqual(IN_DOUBT)
  })
})

test('a batch interrupted by a kill continues at the next start [P18]', async () => {
  const { service, home, root } = await homeOnService({ 'a.md': 'pelican', 'b.md': 'heron' })
  // By its schedule only the very first batch begins during this test.
  const mirror = { name: 'papers', path: root, library: 'Research', settle: '0s', schedule: inHalfAYear() }
  configure(home, { mirrors: [mirror] })
  const { begun, release } = service.holdUploads()
  const first = await startDaemon(home)
  await begun
  await first.kill()
  release()
  const second = await startDaemon(home)
  await second.until('all is sent', () => service.count('uploadFile') === 2)
  await second.until('held again', ({ mirrors }) => mirrors[0]?.reason?.code === 'scheduled')
})

/** A cron expression that is due in half a year. */
function inHalfAYear(): string {
  const later = new Date(Date.now() + 183 * 86_400_000)
  return `0 0 1 ${later.getUTCMonth() + 1} *`
}
