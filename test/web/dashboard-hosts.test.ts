/** What the dashboard of one host shows of all hosts, in a real browser. */
import { expect, test } from 'vitest'
import { mirror, problem, run } from '../ledger/sentences/published.ts'
import { isIdle, startDaemon } from '../support/daemon.ts'
import { fleetOf } from '../support/fleet-of-hosts.ts'
import type { Home } from '../support/home.ts'
import { makeLargeFleet } from '../support/large-fleet.ts'
import { needsPostgres } from '../support/postgres.ts'
import { goTo, openWindow, useBrowser } from './browser.ts'
import { complaintsOf, cutOff } from './examine-looks.ts'

needsPostgres()
useBrowser()

/** By name. */
const FIRST_HUNDRED = Array.from({ length: 1_000 }, (_, index) => `host-${index + 1}`)
  .sort()
  .slice(0, 100)

/** A window on the dashboard of this host's daemon, with the view of hosts. */
async function openHosts(home: Home, width = 1_280) {
  const { page } = await openWindow((await home.json(['dashboard'])).url, { viewport: { width, height: 900 } })
  await page.getByRole('heading', { name: 'Mirrors', level: 1 }).waitFor()
  await page.getByRole('link', { name: 'Hosts' }).click()
  await page.getByRole('heading', { name: 'Hosts', level: 1 }).waitFor()
  return page
}

test('the view of hosts shows a thousand of them at once, leads to each, and orders what it is to do', async () => {
  await using fleet = await fleetOf()
  const told = { mirror: mirror('papers'), problem: problem('papers', 'lost.md', 'x'), run: run(1) }
  await makeLargeFleet(fleet.database, told)
  const nas = await fleet.host('nas', { 'a.md': 'a' })
  const daemon = await startDaemon(nas)
  await daemon.until('all sent', isIdle)
  const page = await openHosts(nas)
  await page.getByText('1,001 hosts').waitFor()
  expect(await complaintsOf(page)).toEqual([])

  const names = page.getByRole('link', { name: /^(host-|nas)/ })
  expect(await names.allInnerTexts()).toEqual(FIRST_HUNDRED)
  await page.getByLabel('Filter by name').fill('host-77')
  await page.getByText('11 hosts').waitFor()
  await page.getByRole('link', { name: 'host-777' }).click()
  await page.getByRole('heading', { name: 'host-777', level: 1 }).waitFor()
  expect(await page.getByRole('heading', { level: 2 }).allInnerTexts()).toEqual([
    'notes',
    'papers',
    'scans',
    '6 problems',
  ])
  await page.getByText('papers: lost.md').first().waitFor()
  expect(await complaintsOf(page)).toEqual([])

  await page.getByRole('button', { name: 'Pause: papers' }).click()
  await page.getByText('Ordered: pause papers; host-777 takes it within a third of the lease.').waitFor()
  await page.getByRole('button', { name: 'Sync now: all mirrors' }).click()
  await page.getByText('Ordered: sync all mirrors').waitFor()
  expect(await fleet.database.run('SELECT host_id, kind, mirror FROM shelfd.host_order ORDER BY id')).toEqual([
    { host_id: 777, kind: 'pause', mirror: 'papers' },
    { host_id: 777, kind: 'sync', mirror: null },
  ])
  await page.setViewportSize({ width: 320, height: 640 })
  expect(await cutOff(page, {})).toEqual([320])
  await goTo(page, '#/hosts?text=host-77')
  await page.getByText('11 hosts').waitFor()
  expect(await cutOff(page, {})).toEqual([320])
})
