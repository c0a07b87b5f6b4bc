/** Names that reorder or hide text, on both pages in a real browser: shown escaped, and true in what is asked and downloaded. */
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { goTo, openPage, signIn, useBrowser } from './browser.ts'
import { openDashboard, useDashboardDaemon } from './dashboard-daemon.ts'

const REVERSED = 'rtl\u202egpj.exe.txt'
const REVERSED_SHOWN = 'rtl\\u{202e}gpj.exe.txt'
const CONTROLS = 'esc\x1b[31m\nline\ttab.txt'
const CONTROLS_SHOWN = 'esc\\x1b[31m\\nline\\ttab.txt'
const HEBREW = 'שלום עולם 2026.txt'

useBrowser()
const running = useDashboardDaemon([
  {
    name: 'Odd',
    files: {
      [REVERSED]: 'The heron waits.',
      [CONTROLS]: 'A heron flies.',
      [HEBREW]: 'One more heron.',
      'dir\u202eevil/broken\u2066.pdf': '%PDF-',
      'damaged.pdf': '%PDF-1',
    },
  },
  { name: 'שלום', files: { 'a.txt': 'A tern dives.' } },
])

/** Returns the texts, tooltips, labels and title of the page that reorder or move anything; a document keeps its lines. */
async function rawTexts(page: Page): Promise<unknown> {
  return await page.evaluate(`{
    const raw = [document.title].filter((title) => /[\\p{Cc}\\p{Bidi_Control}]/u.test(title))
    for (const each of document.querySelectorAll('#page *')) {
      const texts = ['title', 'aria-label', 'alt', 'placeholder'].map((name) => each.getAttribute(name) ?? '')
      for (const node of each.childNodes) if (node.nodeType === Node.TEXT_NODE) texts.push(node.data)
      const kept = each.matches('[data-content]') ? /[\\n\\t]/g : /(?!)/g
      raw.push(...texts.filter((text) => /[\\p{Cc}\\p{Bidi_Control}]/u.test(text.replaceAll(kept, ''))))
    }
    raw
  }`)
}

test('the library shows odd names escaped and opens them [F-FS-13]', async () => {
  const { page, client, library } = await openPage()
  const { json } = await client.call('POST', '/libraries', { name: 'Lib\u202erary', overview: null })
  const id = String(json.id)
  await client.call('POST', `/libraries/${id}/directory`, { path: '/dir\u202eevil' })
  const content = 'A heron.\u202e\n\tReversed\x1b[2J.'
  await client.uploaded(id, { name: REVERSED, content, path: '/dir\u202eevil' })
  await client.uploaded(id, { name: HEBREW, content: 'One more heron.', path: '/dir\u202eevil' })
  await library.settled()
  await signIn(page, library.token)
  await goTo(page, `#/files/${id}`)
  await page.getByRole('link', { name: 'dir\\u{202e}evil' }).click()
  await page.getByRole('link', { name: HEBREW }).waitFor()
  expect([await page.title(), await rawTexts(page)]).toEqual(['dir\\u{202e}evil · Library', []])
  await page.getByRole('link', { name: REVERSED_SHOWN }).click()
  await page.getByRole('heading', { name: REVERSED_SHOWN }).waitFor()
  await page.getByText('A heron.\\u{202e}').waitFor()
  expect(await page.locator('.text').textContent()).toBe('A heron.\\u{202e}\n\tReversed.')
  await page.getByRole('button', { name: 'Show the original as text' }).click()
  await expect.poll(() => page.locator('pre').textContent()).toBe('A heron.\\u{202e}\n\tReversed\\x1b[2J.')
  expect([await page.title(), await rawTexts(page)]).toEqual([`${REVERSED_SHOWN} · Library`, []])
  const downloaded = page.waitForEvent('download')
  await page.getByRole('button', { name: 'Download the original' }).click()
  expect((await downloaded).suggestedFilename(), 'browsers replace it themselves').toMatch(/^rtl.gpj\.exe\.txt$/)
  await goTo(page, `#/search?query=heron&library=${id}`)
  await page.getByRole('button', { name: `Preview: ${REVERSED_SHOWN}` }).click()
  await page.getByRole('region', { name: `Preview of ${REVERSED_SHOWN}` }).waitFor()
  await page.getByLabel('Below').selectOption('/dir\u202eevil')
  await page.getByText('2 of 2 documents').waitFor()
  expect(await rawTexts(page)).toEqual([])
})

test('the dashboard shows odd names escaped and explains them [F-FS-13]', async () => {
  const { page } = await openDashboard(running())
  await goTo(page, '#/report?mirror=Odd')
  for (const name of [REVERSED_SHOWN, HEBREW, 'dir\\u{202e}evil/broken\\u{2066}.pdf'])
    await page.getByRole('button', { name, exact: true }).waitFor()
  expect(await rawTexts(page)).toEqual([])
  await page.getByRole('button', { name: CONTROLS_SHOWN, exact: true }).click()
  await page.getByRole('dialog', { name: CONTROLS_SHOWN }).getByText('stored', { exact: true }).waitFor()
  expect(await rawTexts(page)).toEqual([])
  await page.keyboard.press('Escape')
  await goTo(page, '#/report?mirror=Odd&as=tree')
  await page.getByRole('button', { name: 'dir\\u{202e}evil' }).click()
  await page.getByRole('list', { name: 'dir\\u{202e}evil' }).getByRole('button').click()
  await page.getByRole('dialog').getByText('The PDF is damaged').waitFor()
  expect(await rawTexts(page)).toEqual([])
  await page.keyboard.press('Escape')
  for (const address of ['#/problems', '#/search?words=heron', '#/log']) {
    await goTo(page, address)
    await page
      .getByText(/broken|rtl/)
      .first()
      .waitFor()
    expect([address, await rawTexts(page)]).toEqual([address, []])
  }
})

test('problems are filtered by the top directory of a mirror', async () => {
  const { page } = await openDashboard(running())
  await goTo(page, '#/problems')
  await page.getByRole('button', { name: 'Odd: top directory 1' }).click()
  await page.getByText('1 problem', { exact: true }).waitFor()
  await page.getByRole('button', { name: 'Odd: damaged.pdf', exact: true }).waitFor()
})

test('the directory and library of a mirror keep their order in Hebrew', async () => {
  const { page } = await openDashboard(running(), { viewport: { width: 1_280, height: 800 } })
  const way = page.getByRole('article', { name: 'שלום' }).locator('p.path')
  await way.waitFor()
  const parts = await way.locator('> *').all()
  const lefts = await Promise.all(parts.map(async (part) => (await part.boundingBox())?.x ?? 0))
  expect(lefts).toHaveLength(3)
  expect(lefts).toEqual(lefts.toSorted((a, b) => a - b))
  expect(await way.textContent()).toBe(`${running().home.path}/שלום → שלום:/שלום`)
})
