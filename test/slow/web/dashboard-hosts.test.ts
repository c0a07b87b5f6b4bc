/** What the dashboard of one host shows of all hosts, in a real browser. */
import { expect, test } from 'vitest'
import { mirror, problem, run } from '../../ledger/sentences/published.ts'
import { isIdle, startDaemon } from '../../support/daemon.ts'
import { fleetOf } from '../../support/fleet-of-hosts.ts'
import type { Home } from '../../support/home.ts'
import { makeLargeFleet } from '../../support/large-fleet.ts'
import { needsPostgres } from '../../support/postgres.ts'
import { goTo, openWindow, useBrowser } from './browser.ts'
import { complaintsOf, cutOff } from './examine-looks.ts'

needsPostgres()
useBrowser()

test('the dashboard says that a host is silent, and that the ledger is away', async () => {
  await using fleet = await fleetOf()
  await fleet.sync('pc', { 'b.md': 'b' })
  const nas = await fleet.host('nas', { 'a.md': 'a' })
  const daemon = await startDaemon(nas)
  await daemon.until('all sent', isIdle)
  await fleet.database.run(`UPDATE shelfd.session s SET is_closed = false, seen_at = seen_at - interval '1 hour'
    FROM shelfd.host h WHERE h.session_id = s.id AND h.name = 'pc'`)
  const page = await openHosts(nas)
  const pc = page.getByRole('listitem').filter({ hasText: 'pc' })
  await pc.getByText('silent: shelfd did not end there, and gives no sign of life').waitFor()
  expect(await page.getByText('silent:').count(), 'the other host runs').toBe(1)
  await page.getByRole('link', { name: 'pc' }).click()
  await page.getByRole('heading', { name: 'pc', level: 1 }).waitFor()
  await page.getByText('What it reported last may be out of date').waitFor()
  await page.getByRole('button', { name: 'Pause: papers' }).click()
  await page.getByText('pc takes it once shelfd runs there again').waitFor()
  expect(await complaintsOf(page)).toEqual([])

  await fleet.database.refuse(true)
  await daemon.until('away', ({ ledger }) => ledger?.state === 'away')
  await goTo(page, '#/mirrors')
  await page.getByText(/^The ledger .* is away: .*; since \d\d:\d\d nothing new is sent/).waitFor()
  await goTo(page, '#/hosts')
  await page
    .getByRole('alert')
    .getByText(/^The ledger .* is away/)
    .waitFor()
  await fleet.database.refuse(false)
  await page.getByRole('button', { name: 'Try again' }).click()
  await page.getByText('2 hosts').waitFor()
  await expect.poll(() => page.getByText('nothing new is sent').count()).toBe(0)
})

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
  await fleet.database.run("UPDATE shelfd.session SET seen_at = seen_at - interval '1 hour'")
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
  await page.getByText('Ordered: pause papers; host-777 takes it once shelfd runs there again.').waitFor()
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
