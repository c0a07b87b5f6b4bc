import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { goTo, openPage, signIn, useBrowser } from './browser.ts'

useBrowser()

/** Drops files on the directory that is shown, with the events of a browser. */
async function drop(page: Page, files: Readonly<Record<string, string>>): Promise<void> {
  const transfer = await transferOf(page, files)
  await page.locator('.directory').dispatchEvent('dragover', { dataTransfer: transfer })
  await page.locator('.directory.over').waitFor()
  await page.locator('.directory').dispatchEvent('drop', { dataTransfer: transfer })
}

async function transferOf(page: Page, files: Readonly<Record<string, string>>) {
  return await page.evaluateHandle(`{
    const transfer = new DataTransfer()
    for (const [name, text] of ${JSON.stringify(Object.entries(files))}) transfer.items.add(new File([text], name))
    transfer
  }`)
}

test('dropped files become searchable while the page shows it', async () => {
  const { page, client, library } = await openPage()
  const id = await client.createLibrary()
  await client.call('POST', `/libraries/${id}/directory`, { path: '/Papers' })
  await signIn(page, library.token)
  await page.getByRole('link', { name: 'Papers' }).click()
  await page.getByText('This directory is empty.').waitFor()
  await drop(page, { 'tides.md': '# Tides\n\nThe spring tide.', 'moon.txt': 'The moon waxes.' })
  const uploads = page.getByRole('region', { name: 'Uploads' })
  await uploads.getByText('2 of 2 files done').waitFor()
  await expect.poll(() => uploads.locator('.state').allTextContents()).toEqual(['Searchable', 'Searchable'])
  const entries = page.getByRole('list', { name: 'Entries' }).locator('.item')
  await expect.poll(() => entries.allInnerTexts()).toEqual(['moon.txt\nText', 'tides.md\nMarkdown'])
  await goTo(page, `#/search?query=spring+tide&library=${id}`)
  await page.getByRole('link', { name: 'tides.md' }).waitFor()
  await expect.poll(() => page.locator('.hit .quiet').textContent()).toContain('/Papers/tides.md')
})

test('a file that the library has already is named', async () => {
  const { page, client, library } = await openPage()
  const id = await client.createLibrary()
  await client.uploaded(id, { name: 'first.md', type: 'text/markdown', content: 'The same words.' })
  await library.settled()
  await signIn(page, library.token)
  await page.getByRole('link', { name: '.inbox' }).click()
  await page
    .getByLabel('Files to upload')
    .setInputFiles([{ name: 'second.md', mimeType: 'application/x-strange', buffer: Buffer.from('The same words.') }])
  await page.getByText('The library had this file as “first.md” already').waitFor()
})

test('a refused file is reported, and sent again on request', async () => {
  const { page, client, library } = await openPage({}, { maxUploadBytes: 1_000 })
  await client.createLibrary()
  await signIn(page, library.token)
  await page.getByRole('link', { name: '.inbox' }).click()
  await drop(page, { 'large.txt': 'x'.repeat(2_000), 'small.txt': 'It fits.' })
  await page.getByText('Too large: The file is larger than this instance accepts.').waitFor()
  await page.getByText('1 of 2 files done · 1 problem').waitFor()
  await page.getByRole('button', { name: 'Try again' }).click()
  await page.getByText('Too large').waitFor()
  await page.getByRole('button', { name: 'Clear' }).click()
  await expect.poll(() => page.getByRole('region', { name: 'Uploads' }).count()).toBe(0)
})

test('the progress of an upload is shown', async () => {
  const { page, client, library } = await openPage()
  await client.createLibrary()
  await signIn(page, library.token)
  await page.getByRole('link', { name: '.inbox' }).click()
  const holding = Promise.withResolvers<void>()
  await page.route('**/files', async (route) => {
    await holding.promise
    await route.continue()
  })
  await drop(page, { 'slow.txt': 'slow' })
  await page.getByRole('progressbar', { name: 'Sending slow.txt' }).waitFor()
  await page.getByText('1 under way').waitFor()
  holding.resolve()
  await nextTurn()
  await page.getByText('1 of 1 file done').waitFor()
})

test('a file dropped beside the directory does not replace the page', async () => {
  const { page, client, library } = await openPage()
  await client.createLibrary()
  await signIn(page, library.token)
  await page.getByRole('link', { name: '.inbox' }).waitFor()
  await page.evaluate('addEventListener("drop", (event) => (window.wasKept = event.defaultPrevented))')
  const transfer = await transferOf(page, { 'beside.txt': 'beside' })
  await page.getByRole('banner').dispatchEvent('drop', { dataTransfer: transfer })
  expect(await page.evaluate('window.wasKept')).toBe(true)
  await expect.poll(() => page.getByRole('region', { name: 'Uploads' }).count()).toBe(0)
})

test('files that could not be read come first, with the reason', async () => {
  const { page, client, library } = await openPage()
  await client.createLibrary()
  await signIn(page, library.token)
  await page.getByRole('link', { name: '.inbox' }).click()
  await drop(page, { 'a.md': 'Readable.', 'broken.pdf': '%PDF-' })
  const uploads = page.getByRole('region', { name: 'Uploads' })
  await uploads.getByText('1 of 2 files done · 1 problem').waitFor()
  await uploads.getByText('The PDF is damaged').waitFor()
  await expect.poll(() => uploads.locator('.file').allTextContents()).toEqual(['broken.pdf', 'a.md'])
})
