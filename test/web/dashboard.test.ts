/** The dashboard of a real daemon in a real browser. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { goTo, hasBrowser, openWindow, useBrowser } from './browser.ts'
import { openDashboard, useDashboardDaemon } from './dashboard-daemon.ts'
import { complaintsOf, cutOff } from './examine-looks.ts'

const LONG_NAME = 'Rindfleischetikettierungsüberwachungsaufgabenübertragungsgesetz-Ausführungsbestimmungen.pdf'

useBrowser()
const running = useDashboardDaemon([
  {
    name: 'Papers',
    files: {
      'tides.md': '# Tides\n\nThe spring tide follows the new moon.\n',
      'notes/moon.md': 'The moon pulls.',
      [`notes/${LONG_NAME}`]: '%PDF-',
    },
  },
  { name: 'Contracts', files: { 'a.txt': 'A contract.' } },
])

/** Labels as long as German ones, by what they stand for. */
const GERMAN: Readonly<Record<string, string>> = {
  Mirrors: 'Verzeichnisspiegelungen',
  Problems: 'Schwierigkeiten',
  'Sync now': 'Jetzt sofort abgleichen',
  'Sync all now': 'Alle Verzeichnisse jetzt abgleichen',
  'Pause all': 'Alle Übertragungen anhalten',
  Pause: 'Übertragungen anhalten',
  'Try again': 'Noch einmal versuchen',
  'Set aside': 'Als erledigt beiseitelegen',
  'Sign out': 'Abmelden',
}

const VIEWS = { mirrors: 'Mirrors', problems: 'Problems' } as const

test.skipIf(!hasBrowser)('the one-time address signs in once and stays nowhere', async () => {
  const url = await running().address()
  const { page } = await openWindow(url)
  await page.getByRole('heading', { name: 'Mirrors', level: 1 }).waitFor()
  const key = url.slice(url.lastIndexOf('/') + 1)
  const token = await page.evaluate("sessionStorage.getItem('shelfd.dashboard')")
  for (const secret of [key, token]) expect(page.url()).not.toContain(secret)
  await page.reload()
  await page.getByRole('heading', { name: 'Mirrors', level: 1 }).waitFor()
  expect(await page.evaluate('history.length'), 'the key is not in the history').toBe(2)
  const { page: second } = await openWindow(url)
  await second.getByRole('alert').getByText('This address was used already').waitFor()
  expect(await second.getByRole('heading', { name: 'Mirrors' }).count()).toBe(0)
})

test.skipIf(!hasBrowser)('signing out leaves nothing to see', async () => {
  const { page } = await openDashboard(running())
  await page.getByRole('button', { name: 'Sign out' }).click()
  await page.getByText('shelfd dashboard').waitFor()
  await page.reload()
  await page.getByText('shelfd dashboard').waitFor()
  expect(await page.evaluate('sessionStorage.length')).toBe(0)
})

test.skipIf(!hasBrowser)('each mirror is shown with its state and files', async () => {
  const { page } = await openDashboard(running())
  const papers = page.getByRole('article', { name: 'Papers' })
  await papers.getByText('To note: 1 problem · 2 files searchable').waitFor()
  const legend = papers.getByRole('list', { name: '3 files' })
  expect(await legend.getByRole('listitem').allTextContents()).toEqual(['2 searchable', '1 needs attention'])
  expect(await papers.getByText('last run').count()).toBe(1)
  expect(await papers.getByText('next full scan').count()).toBe(1)
  await page.getByRole('article', { name: 'Contracts' }).getByText('up to date').waitFor()
})

test.skipIf(!hasBrowser)('a saved file appears without a reload', async () => {
  const { page } = await openDashboard(running())
  const contracts = page.getByRole('article', { name: 'Contracts' })
  writeFileSync(join(running().home.path, 'Contracts', 'b.txt'), 'Another contract.')
  await contracts.getByRole('list', { name: '2 files' }).getByText('2 searchable').waitFor()
})

test.skipIf(!hasBrowser)('a mirror is paused, resumed and synced', async () => {
  const { page } = await openDashboard(running())
  const contracts = page.getByRole('article', { name: 'Contracts' })
  await contracts.getByRole('button', { name: 'Pause: Contracts' }).click()
  await contracts.getByText('held: "shelfd resume Contracts" ends the pause').waitFor()
  writeFileSync(join(running().home.path, 'Contracts', 'c.txt'), 'A third contract.')
  await contracts.getByText('1 to send').waitFor()
  await contracts.getByRole('button', { name: 'Sync now: Contracts' }).click()
  await contracts.getByRole('list', { name: '3 files' }).getByText('3 searchable').waitFor()
  await contracts.getByRole('button', { name: 'Resume: Contracts' }).click()
  await contracts.getByText('up to date').waitFor()
  await page.getByRole('button', { name: 'Pause all' }).click()
  await page.getByRole('button', { name: 'Resume all' }).click()
  await page.getByRole('button', { name: 'Pause all' }).waitFor()
})

test.skipIf(!hasBrowser)('a problem is shown with its cause, retried and set aside', async () => {
  const { page } = await openDashboard(running())
  await page.getByRole('link', { name: '1 problem' }).click()
  const problem = page.getByRole('list', { name: 'Files that failed' }).getByRole('listitem')
  await problem.getByText('The PDF is damaged').waitFor()
  await problem.getByText(`Papers: notes/${LONG_NAME}`).waitFor()
  await problem.getByRole('button', { name: 'Try again' }).click()
  await problem.getByText('stored, not searchable').waitFor()
  await problem.getByRole('button', { name: 'Set aside' }).click()
  await problem.getByText('set aside').waitFor()
  await problem.getByRole('button', { name: 'Try again' }).click()
  await problem.getByRole('button', { name: 'Set aside' }).waitFor()
})

test.skipIf(!hasBrowser)('axe finds no violation in any view of the dashboard', async () => {
  const { page } = await openDashboard(running(), { colorScheme: 'light' })
  for (const [view, heading] of Object.entries(VIEWS)) {
    await goTo(page, `#/${view}`)
    await page.getByRole('heading', { name: heading, level: 1 }).waitFor()
    expect([view, await complaintsOf(page)]).toEqual([view, []])
  }
  await page.keyboard.press('?')
  await page.getByRole('dialog', { name: 'Keyboard' }).waitFor()
  expect(await complaintsOf(page)).toEqual([])
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: 'Sign out' }).click()
  await page.getByText('shelfd dashboard').waitFor()
  expect(await complaintsOf(page)).toEqual([])
})

test.skipIf(!hasBrowser)('no view of the dashboard is cut off at 320 pixels, also in German', async () => {
  const { page } = await openDashboard(running(), { viewport: { width: 320, height: 640 } })
  for (const [view, heading] of Object.entries(VIEWS)) {
    await goTo(page, `#/${view}`)
    await page.getByRole('heading', { name: heading, level: 1 }).waitFor()
    expect([view, await cutOff(page, GERMAN)]).toEqual([view, [320]])
    await page.reload()
  }
})

test.skipIf(!hasBrowser)('the keyboard alone leads to each view and its buttons', async () => {
  const { page } = await openDashboard(running())
  const focused = () => page.evaluate('document.activeElement.innerText.trim()')
  await page.keyboard.press('Tab')
  expect(await focused()).toBe('Skip to the content')
  await page.keyboard.press('Enter')
  await page.keyboard.press('Tab')
  expect(await focused()).toBe('Sync all now')
  for (const [index, heading] of Object.values(VIEWS).entries()) {
    await page.keyboard.press(String(index + 1))
    await page.getByRole('heading', { name: heading, level: 1 }).waitFor()
    await expect.poll(focused).toBe(heading)
  }
})
