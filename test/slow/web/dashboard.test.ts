/** The dashboard of a real daemon in a real browser. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { goTo, openWindow, useBrowser } from './browser.ts'
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
  // Copies are sent once.
  {
    name: 'Copies',
    files: Object.fromEntries(Array.from({ length: 120 }, (_, n) => [`copy-${n + 100}.txt`, 'A copy.'])),
  },
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
  'Leave it out': 'Datei von der Spiegelung ausnehmen',
  'Sign out': 'Abmelden',
  Report: 'Gegenüberstellung',
  Timeline: 'Zeitlicher Verlauf',
  Settings: 'Einstellungen',
  'Last month': 'Im letzten Monat',
  'Open the document': 'Das Originaldokument öffnen',
  'Open the file': 'Die Datei öffnen',
  'Open its folder': 'Den übergeordneten Ordner öffnen',
  'Show what was sent': 'Das Originaldokument anzeigen',
}

const VIEWS = {
  mirrors: 'Mirrors',
  'report?mirror=Papers': 'Report',
  'report?mirror=Papers&as=tree': 'Report',
  problems: 'Problems',
  timeline: 'Timeline',
  'search?words=tide': 'Search',
  settings: 'Settings',
  log: 'Log',
} as const

/** Shows a view with all that it loads. */
async function show(page: Page, view: string, heading: string): Promise<void> {
  await goTo(page, `#/${view}`)
  await page.getByRole('heading', { name: heading, level: 1 }).waitFor()
  await page.getByText(/Loading/).waitFor({ state: 'detached' })
}

test('the one-time address signs in once and stays nowhere [S-23]', async () => {
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
  await expect.poll(() => second.getByRole('heading', { name: 'Mirrors' }).count()).toBe(0)
})

test('signing out leaves nothing to see', async () => {
  const { page } = await openDashboard(running())
  await page.getByRole('button', { name: 'Sign out' }).click()
  await page.getByText('shelfd dashboard').waitFor()
  await page.reload()
  await page.getByText('shelfd dashboard').waitFor()
  expect(await page.evaluate('sessionStorage.length')).toBe(0)
})

test('each mirror is shown with its state and files', async () => {
  const { page } = await openDashboard(running())
  const papers = page.getByRole('article', { name: 'Papers' })
  await papers.getByText('To note: 1 problem · 2 files searchable').waitFor()
  const legend = papers.getByRole('list', { name: '3 files' })
  await expect.poll(() => legend.getByRole('listitem').allTextContents()).toEqual(['2 searchable', '1 needs attention'])
  // The next run may be tomorrow.
  const time = /[A-Z][a-z]{2} \d{1,2}, \d{4}, \d/
  for (const label of ['last full scan', 'all sent', 'next run'])
    await papers.locator('div').filter({ hasText: label }).getByText(time).first().waitFor()
  await expect.poll(() => papers.getByText('last run').count(), { message: 'the daemon has its own times' }).toBe(0)
  await page.getByRole('article', { name: 'Contracts' }).getByText('up to date').waitFor()
})

test('a saved file appears without a reload', async () => {
  const { page } = await openDashboard(running())
  const contracts = page.getByRole('article', { name: 'Contracts' })
  writeFileSync(join(running().home.path, 'Contracts', 'b.txt'), 'Another contract.')
  await contracts.getByRole('list', { name: '2 files' }).getByText('2 searchable').waitFor()
})

test('a mirror is paused, resumed and synced', async () => {
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

test('a problem is shown with its cause, retried and set aside', async () => {
  const { page } = await openDashboard(running())
  await page.getByRole('link', { name: '1 problem' }).click()
  const problem = page.getByRole('list', { name: 'Problems' }).getByRole('listitem')
  await problem.getByText('The PDF is damaged').waitFor()
  await problem.getByText(`Papers: notes/${LONG_NAME}`, { exact: true }).waitFor()
  await problem.getByRole('button', { name: 'Try again' }).click()
  await problem.getByText('stored, not searchable').waitFor()
  await problem.getByRole('button', { name: 'Set aside' }).click()
  await problem.getByText('set aside').waitFor()
  await problem.getByRole('button', { name: 'Try again' }).click()
  await problem.getByRole('button', { name: 'Set aside' }).waitFor()
  await problem.getByText('Leave it out').click()
  await problem.getByText(`/notes/${LONG_NAME}`, { exact: true }).waitFor()
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
  await problem.getByRole('button', { name: 'Copy' }).click()
  await problem.getByText('Copied').waitFor()
  expect(await page.evaluate('navigator.clipboard.readText()')).toBe(`/notes/${LONG_NAME}`)
  await problem.getByRole('button', { name: `Papers: notes/${LONG_NAME}`, exact: true }).click()
  await page.getByRole('dialog').getByText('The PDF is damaged').waitFor()
})

test('the report is a table with filters and pages', async () => {
  const { page } = await openDashboard(running())
  await page.getByRole('link', { name: 'Report' }).click()
  await page.getByRole('combobox', { name: 'Mirror' }).selectOption('Copies')
  await page.getByText('120 rows').waitFor()
  const rows = page.getByRole('table').getByRole('row')
  await expect.poll(() => rows.count(), { message: 'a heading and a hundred rows' }).toBe(101)
  await page.getByRole('button', { name: 'Next' }).click()
  await page.getByText('Page 2 of 2').waitFor()
  await expect.poll(() => rows.count()).toBe(21)
  await page.getByRole('searchbox', { name: 'Filter by name' }).fill('COPY-10')
  await page.getByText('10 rows').waitFor()
  await expect
    .poll(() => page.evaluate('document.activeElement.type'), { message: 'the filter keeps the focus' })
    .toBe('search')
  await page.getByRole('combobox', { name: 'Mirror' }).selectOption('Papers')
  await page.getByRole('button', { name: 'needs attention 1' }).click()
  await page.getByText('1 row', { exact: true }).waitFor()
  await expect
    .poll(() => page.getByRole('button', { name: 'needs attention 1' }).getAttribute('aria-pressed'))
    .toBe('true')
  await page.getByRole('cell', { name: 'The PDF is damaged' }).waitFor()
})

test('the report is a tree whose files say why, and open', async () => {
  const { page } = await openDashboard(running())
  await goTo(page, '#/report?mirror=Papers&as=tree')
  await page.getByRole('button', { name: 'notes' }).click()
  await page.getByRole('list', { name: 'notes' }).getByRole('button', { name: 'moon.md' }).click()
  const dialog = page.getByRole('dialog', { name: 'notes/moon.md' })
  await dialog.getByText('stored', { exact: true }).waitFor()
  await dialog.getByText('Papers:/Papers').waitFor()
  await dialog.getByText(/^[A-Z][a-z]{2} \d{1,2}, \d{4}, .* [AP]M sent, from notes\/moon.md$/).waitFor()
  expect(await dialog.innerText(), 'one format of times').not.toMatch(/\d\d:\d\d:\d\d/)
  const opened = page.context().waitForEvent('page')
  await dialog.getByRole('button', { name: 'Open the document' }).click()
  const document = await opened
  await document.getByText('The moon pulls.').waitFor()
  expect(await document.evaluate('window.opener')).toBe(null)
  await page.keyboard.press('Escape')
  await expect.poll(() => page.getByRole('dialog').count()).toBe(0)
})

test('what the tree leaves out is in the list', async () => {
  const { page } = await openDashboard(running())
  await page.route('**/api/tree', async (route) => {
    const response = await route.fetch()
    await route.fulfill({ response, json: { ...(await response.json()), moreDirectories: 2 } })
  })
  await goTo(page, '#/report?mirror=Copies&as=tree')
  await page.getByRole('link', { name: 'and 20 more files' }).waitFor()
  await page.getByRole('link', { name: 'and 2 more directories' }).click()
  await page.getByText('120 rows', { exact: true }).waitFor()
})

test('the timeline plots uploads and says their numbers', async () => {
  const { page } = await openDashboard(running())
  let waits: readonly (number | null)[] = [0, null]
  await page.route('**/api/timeline', async (route) => {
    const response = await route.fetch()
    const json = await response.json()
    const searchableAfterMs = json.searchableAfterMs.with(-2, waits[0]).with(-1, waits[1])
    await route.fulfill({ response, json: { ...json, searchableAfterMs } })
  })
  await goTo(page, '#/timeline?span=hour')
  await page.getByText(/^[5-9] uploads of \d+ B, [1-9] failures?$/).waitFor()
  const waiting = page.getByRole('figure').filter({ hasText: 'Median time until searchable' })
  await waiting.getByText('Most at once.').waitFor()
  await expect.poll(() => page.locator('canvas').count(), { message: 'nothing to plot has no plot' }).toBe(2)
  await page.getByText('Numbers').click()
  await page.getByRole('columnheader', { name: 'Searchable after' }).waitFor()
  waits = [1_500, 0]
  await page.getByRole('link', { name: 'Last month' }).click()
  await page.getByText(/^[5-9] uploads of/).waitFor()
  await waiting.getByText('Median time until searchable: at most 1.5 sec').waitFor()
  await expect.poll(() => page.locator('canvas').count()).toBe(3)
})

test('the last label of a plot is whole', async () => {
  const { page } = await openDashboard(running(), { viewport: { width: 390, height: 800 } })
  await page.route('**/api/timeline', async (route) => {
    const response = await route.fetch()
    const json = await response.json()
    const midnightMs = new Date(2026, 10, 28).getTime()
    const fromMs = midnightMs - json.intervalMs * json.sent.length
    await route.fulfill({ response, json: { ...json, fromMs, sent: json.sent.with(-1, 1) } })
  })
  await goTo(page, '#/timeline?span=hour')
  await page.locator('canvas').first().waitFor()
  const edge = `[...document.querySelectorAll('canvas')].map((canvas) =>
    canvas.getContext('2d').getImageData(canvas.width - 1, 0, 1, canvas.height).data.some((value) => value > 0))`
  expect(await page.evaluate(edge)).not.toContain(true)
})

test('a state has one colour in all views, and its reason does not repeat it', async () => {
  const { page } = await openDashboard(running())
  const coloursOf = async (name: string) => {
    const added = `document.body.appendChild(Object.assign(document.createElement('i'), { className: '${name}' }))`
    return String(await page.evaluate(`getComputedStyle(${added}).background`)).match(/rgb\([^)]*\)/g) ?? []
  }
  expect(await coloursOf('part without-text')).toContain((await coloursOf('class-without-text'))[0])
  await page.route('**/api/rows', async (route) => {
    const response = await route.fetch()
    const json = await response.json()
    const reason = 'gone: its file is no longer there; still searchable'
    await route.fulfill({ response, json: { ...json, rows: [{ ...json.rows[0], class: 'gone', reason }] } })
  })
  await goTo(page, '#/report?mirror=Papers')
  await page.getByRole('cell', { name: 'gone: its file is no longer there; still searchable', exact: true }).waitFor()
})

test('a search shows excerpts and leads to documents', async () => {
  const { page } = await openDashboard(running())
  await page.getByRole('link', { name: 'Search' }).click()
  await page.getByRole('searchbox', { name: 'Words' }).fill('spring tide')
  await page.keyboard.press('Enter')
  const hits = page.getByRole('list', { name: 'Hits' })
  await hits.getByText('tides.md', { exact: true }).waitFor()
  await expect.poll(() => hits.locator('mark').allTextContents()).toEqual(['Tides', 'spring', 'tide'])
  await hits.getByRole('button', { name: 'Show what was sent: tides.md' }).waitFor()
  await goTo(page, '#/search?words=moon')
  await expect.poll(() => page.getByRole('searchbox', { name: 'Words' }).inputValue()).toBe('moon')
  await page.goBack()
  await expect.poll(() => page.getByRole('searchbox', { name: 'Words' }).inputValue()).toBe('spring tide')
  await page.getByRole('combobox', { name: 'Type' }).selectOption('Markdown')
  await hits.getByText('tides.md', { exact: true }).waitFor()
  await page.getByRole('combobox', { name: 'Type' }).selectOption('PDF')
  await page.getByText('Nothing there has these words').waitFor()
  await page.getByRole('combobox', { name: 'Type' }).selectOption('All types')
  await page.getByRole('combobox', { name: 'Library' }).selectOption('Contracts')
  await page.getByText('Nothing has these words').waitFor()
})

test('settings and the last lines of the log are shown', async () => {
  const { page } = await openDashboard(running())
  await page.getByRole('link', { name: 'Settings' }).click()
  await page.getByText('mirrors.0.name', { exact: true }).waitFor()
  await page.getByText('limits.newPerDay').waitFor()
  await page.getByRole('link', { name: 'Log' }).click()
  const log = page.getByRole('list', { name: 'Log, newest first' })
  await log.getByText('the daemon has started').waitFor()
  await running().home.shelfd(['pause', 'Copies'])
  await log.getByText('a client paused uploads mirrors=["Copies"]').waitFor()
  await running().home.shelfd(['resume', 'Copies'])
})

test('a page without its server says so and recovers', async () => {
  const { page } = await openDashboard(running())
  await page.route('**/api/**', (route) => route.abort())
  await goTo(page, '#/settings')
  await page.getByRole('alert').getByText('shelfd does not answer').waitFor()
  await page.unroute('**/api/**')
  await page.getByRole('button', { name: 'Try again' }).click()
  await page.getByText('limits.transfers').waitFor()
})

test('axe finds no violation in any view of the dashboard', async () => {
  const { page } = await openDashboard(running(), { colorScheme: 'light' })
  for (const [view, heading] of Object.entries(VIEWS)) {
    await show(page, view, heading)
    expect([view, await complaintsOf(page)]).toEqual([view, []])
  }
  await page.keyboard.press('?')
  await page.getByRole('dialog', { name: 'Keyboard' }).waitFor()
  expect(await complaintsOf(page)).toEqual([])
  await page.keyboard.press('Escape')
  await show(page, 'report?mirror=Papers', 'Report')
  await page.getByRole('button', { name: 'tides.md' }).click()
  await page.getByRole('dialog').getByText('uploaded').waitFor()
  expect(await complaintsOf(page)).toEqual([])
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: 'Sign out' }).click()
  await page.getByText('shelfd dashboard').waitFor()
  expect(await complaintsOf(page)).toEqual([])
})

test('no view of the dashboard is cut off at 320 pixels, also in German', async () => {
  const { page } = await openDashboard(running(), { viewport: { width: 320, height: 640 } })
  for (const [view, heading] of Object.entries(VIEWS)) {
    await show(page, view, heading)
    expect([view, await cutOff(page, GERMAN)]).toEqual([view, [320]])
    await page.reload()
  }
  await show(page, 'settings', 'Settings')
  await page.getByRole('button', { name: 'Remove: Papers' }).click()
  await page.getByText('The mirror is taken out of').waitFor()
  expect(await cutOff(page, GERMAN)).toEqual([320])
})

test('the keyboard alone leads to each view and its buttons', async () => {
  const { page } = await openDashboard(running())
  const focused = () => page.evaluate('document.activeElement.innerText.trim()')
  await page.keyboard.press('Tab')
  expect(await focused()).toBe('Skip to the content')
  await page.keyboard.press('Enter')
  await page.keyboard.press('Tab')
  expect(await focused()).toBe('Sync all now')
  const headings = ['Report', 'Problems', 'Timeline', 'Search', 'Settings', 'Log']
  for (const [index, heading] of headings.entries()) {
    await page.keyboard.press(String(index + 2))
    await page.getByRole('heading', { name: heading, level: 1 }).waitFor()
    await expect.poll(focused).toBe(heading)
  }
})
