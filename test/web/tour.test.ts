/** `npm run tour`: takes the pictures of docs/dashboard.md anew. Without the variable it does nothing. */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Page } from 'playwright-core'
import sharp from 'sharp'
import { expect, test } from 'vitest'
import { goTo, hasBrowser, useBrowser } from './browser.ts'
import { openDashboard, useDashboardDaemon } from './dashboard-daemon.ts'

const IMAGES = fileURLToPath(new URL('../../docs/images', import.meta.url))
const WIDE = { width: 1000, height: 640 }
const NARROW = { width: 320, height: 640 }

useBrowser()

const essays = ['Spring tides', 'Neap tides', 'Kestrels', 'Moorland', 'Estuaries', 'Salt marshes', 'Terns', 'Dunes']
const papers = essays.flatMap((subject) => [
  [`${subject.toLowerCase().replace(' ', '-')}.md`, `# ${subject}\n\nNotes on ${subject.toLowerCase()} by the sea.\n`],
  [`reviews/${subject.toLowerCase().replace(' ', '-')}-review.md`, `A review: ${subject} deserve more observations.\n`],
  [`letters/1999/${subject.toLowerCase().replace(' ', '-')}.txt`, `Dear colleague, as to ${subject.toLowerCase()} …\n`],
])

const running = useDashboardDaemon([
  { name: 'Papers', files: { ...Object.fromEntries(papers), 'letters/scan-1987.pdf': '%PDF-' } },
  { name: 'Contracts', files: { 'lease.txt': 'The lease.', 'insurance/house.txt': 'The house.' } },
])

/** The view as it is, with a home directory that could be anybody's; few colours make it small. */
async function takePicture(page: Page, name: string): Promise<void> {
  await page.evaluate(`{
    const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
    while (texts.nextNode()) texts.currentNode.data = texts.currentNode.data.replaceAll(${JSON.stringify(running().home.path)}, '/home/ada')
  }`)
  mkdirSync(IMAGES, { recursive: true })
  const picture = sharp(await page.screenshot()).png({ palette: true, colours: 64, effort: 10 })
  const { size } = await picture.toFile(join(IMAGES, `${name}.png`))
  expect(size).toBeLessThan(60_000)
}

test.runIf(hasBrowser && process.env.WRITE_TOUR !== undefined)('the pictures of the tour are taken', async () => {
  const { page } = await openDashboard(running(), { viewport: WIDE, colorScheme: 'light' })
  await takePicture(page, 'dashboard-mirrors')
  await goTo(page, '#/report?mirror=Papers&text=scan')
  await page.getByText('1 row', { exact: true }).waitFor()
  await page.getByRole('button', { name: 'letters/scan-1987.pdf' }).click()
  await page.getByRole('dialog').getByText('The PDF is damaged').waitFor()
  await takePicture(page, 'dashboard-report')
  await page.keyboard.press('Escape')
  await page.emulateMedia({ colorScheme: 'dark' })
  await goTo(page, '#/search?words=spring tides')
  await page.getByRole('list', { name: 'Hits' }).waitFor()
  await takePicture(page, 'dashboard-search')
  await page.emulateMedia({ colorScheme: 'light' })
  await page.setViewportSize(NARROW)
  await goTo(page, '#/timeline?span=hour')
  await page.locator('canvas').last().waitFor()
  await takePicture(page, 'dashboard-timeline')
})
