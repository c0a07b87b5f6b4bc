/** Mirrors are added and their rules edited in a real browser, by a real daemon. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { useBrowser } from './browser.ts'
import { openDashboard, useDashboardDaemon } from './dashboard-daemon.ts'
import { complaintsOf, cutOff } from './examine-looks.ts'

useBrowser()
const running = useDashboardDaemon([
  {
    name: 'Papers',
    files: {
      'tides.md': 'The spring tide.',
      'old.bak': 'An old one.',
      ...Object.fromEntries(Array.from({ length: 12 }, (_, n) => [`drafts/draft-${n + 10}.md`, `Draft ${n}.`])),
    },
  },
])
const file = () => join(running().home.path, 'config', 'shelfd', 'config.yaml')
const NARROW = { viewport: { width: 390, height: 844 } }

test('the effect of ignore rules is shown before they are saved', async () => {
  writeFileSync(file(), `# Mine.\n${readFileSync(file(), 'utf8')}`)
  const { page } = await openDashboard(running(), NARROW)
  await page.getByRole('button', { name: 'Leave out …: Papers' }).click()
  const dialog = page.getByRole('dialog', { name: 'Leave out of Papers' })
  const lines = dialog.getByLabel('Patterns, one a line')
  await lines.fill('/drafts/\n\n*.bak\n')
  const save = dialog.getByRole('button', { name: 'Save' })
  expect(await save.isDisabled(), 'nothing is saved unseen').toBe(true)
  await page.keyboard.press('Tab')
  await page.keyboard.press('Enter')
  await dialog.getByText('13 files would be left out:').waitFor()
  expect(await page.evaluate('document.activeElement.innerText'), 'the button keeps the focus').toBe('Show the effect')
  await dialog.getByText('drafts/draft-10.md').waitFor()
  await dialog.getByText('and 3 more').waitFor()
  await dialog.getByText('Nothing is deleted: what was sent stays in the library').waitFor()
  expect(await complaintsOf(page)).toEqual([])
  await page.setViewportSize({ width: 320, height: 640 })
  expect(await cutOff(page, {})).toEqual([320])
  await page.setViewportSize(NARROW.viewport)
  await lines.press('End')
  await lines.pressSequentially('#')
  expect(await save.isDisabled(), 'another text has another effect').toBe(true)
  await lines.fill('/drafts/')
  await dialog.getByRole('button', { name: 'Show the effect' }).click()
  await dialog.getByText('12 files would be left out').waitFor()
  await save.click()
  await dialog.getByText('The running daemon has read it').waitFor()
  expect(readFileSync(file(), 'utf8')).toMatch(/^# Mine\.\n[\s\S]*ignore:\n\s+- \/drafts\/\n/)
  await page.keyboard.press('Escape')
  await page.getByRole('list', { name: '2 files' }).waitFor()
})

test('a directory is added by the keyboard alone, with errors beside their fields', async () => {
  const { home } = running()
  home.write('Notes', { 'moon.md': 'The moon pulls.' })
  const { page } = await openDashboard(running(), NARROW)
  await page.getByRole('button', { name: 'Add a directory …' }).focus()
  await page.keyboard.press('Enter')
  const dialog = page.getByRole('dialog', { name: 'Add a directory' })
  const path = dialog.getByLabel('Directory')
  await path.waitFor()
  const focused = () => page.evaluate('document.activeElement.id || document.activeElement.innerText')
  await expect.poll(focused).toBe('new-path')
  await page.keyboard.type('~/Note')
  await page.keyboard.press('Enter')
  await dialog.getByText('did you mean').waitFor()
  expect([await focused(), await path.getAttribute('aria-invalid')]).toEqual(['new-path', 'true'])
  expect(await complaintsOf(page)).toEqual([])
  await page.keyboard.press('End')
  await page.keyboard.type('s')
  await page.keyboard.press('Enter')
  await dialog.getByText('The first run finds 1 file, 15 B.').waitFor()
  await dialog.getByText('The library Notes is new and will be created.').waitFor()
  expect(await complaintsOf(page)).toEqual([])
  await page.setViewportSize({ width: 320, height: 640 })
  expect(await cutOff(page, {})).toEqual([320])
  await page.setViewportSize(NARROW.viewport)
  for (let tabs = 0; tabs < 8 && (await focused()) !== 'Add'; tabs += 1) await page.keyboard.press('Tab')
  await page.keyboard.press('Enter')
  await dialog.getByText('keeps Papers, Notes up to date').waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('article', { name: 'Notes' }).getByText('1 searchable').waitFor()
})

test('a mirror is removed in the settings by the keyboard alone, once it was said what stays', async () => {
  const { page } = await openDashboard(running(), NARROW)
  await page.evaluate("location.hash = '#/settings'")
  const button = page.getByRole('button', { name: 'Remove: Notes' })
  await button.waitFor()
  expect(await complaintsOf(page)).toEqual([])
  await button.focus()
  await page.keyboard.press('Enter')
  const dialog = page.getByRole('dialog', { name: 'Remove Notes' })
  await dialog.getByText('Its directory and what was sent stay as they are').waitFor()
  expect(await complaintsOf(page)).toEqual([])
  if (process.env.LOOK) await page.screenshot({ path: process.env.LOOK })
  await dialog.getByRole('button', { name: 'Remove', exact: true }).focus()
  await page.keyboard.press('Enter')
  await dialog.getByText('Removed from').waitFor()
  await page.keyboard.press('Escape')
  await page.getByText('a configuration that no longer names it').waitFor()
  expect(readFileSync(file(), 'utf8')).not.toContain('Notes')
  if (process.env.LOOK) await page.screenshot({ path: process.env.LOOK.replace('.png', '-2.png') })
})
