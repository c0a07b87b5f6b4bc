/** `npm run tour`: takes the pictures of the pages anew. Without the variable it does nothing. */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Page } from 'playwright-core'
import sharp from 'sharp'
import { expect, test } from 'vitest'
import { homeWithPapers } from '../../support/home.ts'
import { openTerminal } from '../../support/terminal.ts'
import { goTo, openPage, openWindow, signIn, useBrowser } from './browser.ts'
import { openDashboard, useDashboardDaemon } from './dashboard-daemon.ts'
import { lastScreen, redrawnLines, terminalPage } from './terminal-picture.ts'

const IMAGES = fileURLToPath(new URL('../../../docs/images', import.meta.url))
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
  await savePicture(await page.screenshot(), name)
}

async function savePicture(screenshot: Buffer, name: string): Promise<void> {
  mkdirSync(IMAGES, { recursive: true })
  const picture = sharp(screenshot).png({ palette: true, colours: 64, effort: 10 })
  const { size } = await picture.toFile(join(IMAGES, `${name}.png`))
  expect(size).toBeLessThan(60_000)
}

/** A picture of the text with its colours, as on a terminal. */
async function drawTerminal(page: Page, name: string, text: string): Promise<void> {
  await page.setContent(terminalPage(text))
  await savePicture(await page.locator('pre').screenshot(), name)
}

const writesTour = process.env.WRITE_TOUR !== undefined

test.runIf(writesTour)('the pictures of the dashboard are taken', async () => {
  const { page } = await openDashboard(running(), { viewport: WIDE, colorScheme: 'light' })
  await takePicture(page, 'dashboard-mirrors')
  await page.getByRole('button', { name: 'Leave out …: Papers' }).click()
  await page.getByLabel('Patterns, one a line').fill('/letters/')
  await page.getByRole('button', { name: 'Show the effect' }).click()
  await page.getByText('Nothing is deleted').waitFor()
  await takePicture(page, 'dashboard-rules')
  await page.keyboard.press('Escape')
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

test.runIf(writesTour)('the pictures of the terminal are taken', { timeout: 120_000 }, async () => {
  const home = homeWithPapers({ ...Object.fromEntries(papers), 'letters/scan-1987.pdf': '%PDF-', '.env': 'TOKEN=1' })
  home.write('Papers', {
    'copies/dunes.md': '# Dunes\n\nNotes on dunes by the sea.\n',
    'harbour.raw': Buffer.alloc(300 * 2 ** 20),
  })
  // The usual places of a home, so that the pictures show them.
  const env = {
    HOME: home.path,
    PATH: home.env.PATH ?? '',
    LANG: 'C.UTF-8',
    TERM: 'xterm-256color',
    NO_COLOR: '',
    SHELFD_ALLOW_ROOT: '1',
  }
  const run = async (command: string) => {
    const [, ...args] = command.split(' ')
    const { output } = await openTerminal(args, { path: home.path, env }, 100).ended
    return { output: output.replaceAll(home.path, '/home/ada'), prompt: `\x1b[1m$ ${command}\x1b[22m\n` }
  }
  const { page } = await openWindow('about:blank', { viewport: WIDE })
  const sync = await run('shelfd sync Papers')
  const uploading = redrawnLines(sync.output).filter((line) => line.includes('harbour.raw'))
  const frames = [
    uploading[Math.floor(uploading.length / 2)],
    redrawnLines(sync.output).findLast((line) => line.includes('processing')),
  ]
  await drawTerminal(page, 'terminal-progress', frames.join('\n'))
  await drawTerminal(page, 'terminal-sync', sync.prompt + lastScreen(sync.output))
  for (const [name, commands] of Object.entries(SCREENS)) {
    const shown: string[] = []
    for (const command of commands) {
      const { prompt, output } = await run(command)
      shown.push(prompt + lastScreen(output).trimEnd())
    }
    await drawTerminal(page, `terminal-${name}`, shown.join('\n\n'))
  }
})

const SCREENS = {
  search: ['shelfd search tides --limit 3'],
  problem: ['shelfd status', 'shelfd why Papers/letters/scan-1987.pdf'],
  doctor: ['shelfd doctor'],
}

test.runIf(writesTour)("the pictures of the library's page are taken", async () => {
  const { page, client, library } = await openPage({ viewport: WIDE, colorScheme: 'light' })
  const id = await client.createLibrary()
  await client.call('POST', `/libraries/${id}/directory`, { path: '/Papers' })
  for (const [name = '', content = ''] of papers)
    await client.uploaded(id, { name: name.replaceAll('/', '-'), type: 'text/markdown', content, path: '/Papers' })
  await library.settled()
  await signIn(page, library.token)
  await goTo(page, '#/search?query=spring tides')
  await page.getByRole('list', { name: 'Hits' }).waitFor()
  await page.getByRole('button', { name: 'Preview: spring-tides.md' }).click()
  await page.locator('.preview mark').first().waitFor()
  await savePicture(await page.screenshot(), 'library-search')
  await page.getByRole('list', { name: 'Hits' }).getByRole('link', { name: 'spring-tides.md', exact: true }).click()
  await page.getByText('Notes on spring tides').first().waitFor()
  await savePicture(await page.screenshot(), 'library-document')
})
