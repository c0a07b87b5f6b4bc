import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { largeFilm } from '../../embedded/video/film.ts'
import { needs } from '../../support/needs.ts'
import { goTo, openPage, signIn, useBrowser } from './browser.ts'
import { complaintsOf } from './examine-looks.ts'

useBrowser()

const TIDES = '# Tides\n\nThe **spring tide** follows the new moon\nby about two days.\n'

/** The addresses of the entries shown. */
async function shownIn(page: Page, list: string): Promise<string[]> {
  return await page.getByRole('list', { name: list }).locator('.item').allInnerTexts()
}

test('a search shows the matching words and opens the passage', async () => {
  const { page, client, library } = await openPage()
  const id = await client.createLibrary()
  const filler = Array.from({ length: 400 }, (_, line) => `Line ${line} of a log about nothing much.`).join('\n')
  await client.uploaded(id, { name: 'log.txt', content: `${filler}\nHere the kingfisher dives.\n${filler}` })
  await client.uploaded(id, { name: 'tides.md', type: 'text/markdown', content: TIDES })
  await library.settled()
  await signIn(page, library.token)
  await page.keyboard.press('/')
  await page.keyboard.type('spring tides')
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Search for spring tides' }).waitFor()
  await page.getByText('Candidates, not verified answers').waitFor()
  await expect.poll(() => page.locator('mark').allTextContents()).toEqual(['Tides', 'spring', 'tide'])
  await expect.poll(() => page.locator('.excerpt').textContent()).toContain('The **spring tide** follows')
  await page.keyboard.press('/')
  await page.keyboard.type('kingfisher')
  await page.keyboard.press('Enter')
  await page.getByRole('link', { name: 'log.txt' }).click()
  const passage = page.locator('.passage.asked-for')
  await expect.poll(() => passage.textContent()).toContain('Here the kingfisher dives.')
  const topOf = 'document.querySelector(".asked-for").getBoundingClientRect().top / innerHeight'
  await expect.poll(async () => Math.abs(Number(await page.evaluate(topOf)))).toBeLessThan(1)
  await page.getByRole('link', { name: 'From the beginning' }).click()
  await page.getByText(/^Line 0 of/).waitFor()
})

test('a search shows only documents of the chosen type', async () => {
  const { page, client, library } = await openPage()
  const id = await client.createLibrary()
  await client.uploaded(id, { name: 'heron.txt', type: 'text/plain', content: 'A heron waits.' })
  await client.uploaded(id, { name: 'heron.md', type: 'text/markdown', content: 'A heron flies.' })
  await library.settled()
  await signIn(page, library.token)
  await goTo(page, '#/search?query=heron')
  await page.getByLabel('Type').selectOption({ label: 'Markdown (1)' })
  await page.getByText('1 of 2 documents').waitFor()
  expect(await shownIn(page, 'Hits')).toEqual(['heron.md'])
})

test('the place of a passage stays beside a text that runs from right to left', async () => {
  const { page, client, library } = await openPage()
  const id = await client.createLibrary()
  await client.uploaded(id, { name: 'tide.txt', content: 'הגאות באה אחרי הירח החדש spring tide' })
  const empty = await client.uploaded(id, { name: 'empty.txt', content: '' })
  await library.settled()
  await signIn(page, library.token)
  await goTo(page, '#/search?query=tide')
  const [place, word] = [page.locator('.excerpt .place'), page.locator('.excerpt mark').last()]
  await place.waitFor()
  const [left, right] = [await place.boundingBox(), await word.boundingBox()]
  expect((left?.x ?? 0) + (left?.width ?? 0)).toBeLessThan(right?.x ?? 0)
  await goTo(page, `#/documents/${id}/${empty}`)
  await page.getByText('Empty: found by its name only').waitFor()
})

test('arrow keys go through each list that Enter opens', async () => {
  const { page, client, library } = await openPage()
  const [id] = [await client.createLibrary(), await client.createLibrary()]
  for (const name of ['a.md', 'b.md']) await client.uploaded(id, { name, content: `${name}: a heron waits.` })
  await library.settled()
  await signIn(page, library.token)
  const focused = () => page.evaluate('document.activeElement.innerText.split("\\n")[0]')
  await page.getByRole('heading', { name: 'Libraries' }).waitFor()
  // No view, though each object has such a property.
  await goTo(page, '#/constructor')
  await expect.poll(focused).toBe('Libraries')
  await page.locator(`a[href*="${id}"]`).focus()
  await page.keyboard.press('Enter')
  await page.getByRole('link', { name: '.inbox' }).waitFor()
  await page.keyboard.press('ArrowDown')
  await expect.poll(focused).toBe('.inbox')
  await page.keyboard.press('Enter')
  await page.getByRole('link', { name: 'b.md' }).waitFor()
  for (const key of ['ArrowDown', 'ArrowDown']) await page.keyboard.press(key)
  await expect.poll(focused).toBe('b.md')
  await page.keyboard.press('/')
  await page.keyboard.type('heron')
  await page.keyboard.press('Enter')
  await page.getByText('2 documents').waitFor()
  const [best] = await shownIn(page, 'Hits')
  await page.keyboard.press('ArrowDown')
  await expect.poll(focused).toBe(best)
})

test('hits are restricted to a library and a directory', async () => {
  const { page, client, library } = await openPage()
  const [first, second] = [await client.createLibrary(), await client.createLibrary()]
  await client.call('POST', `/libraries/${first}/directory`, { path: '/Papers' })
  await client.uploaded(first, { name: 'in-papers.md', content: 'The heron waits.', path: '/Papers' })
  await client.uploaded(first, { name: 'in-inbox.md', content: 'A heron flies.' })
  await client.uploaded(second, { name: 'elsewhere.md', content: 'No heron here.' })
  await library.settled()
  await signIn(page, library.token)
  await goTo(page, '#/search?query=heron')
  await page.getByText('3 documents').waitFor()
  await page.getByRole('combobox', { name: 'In', exact: true }).selectOption(first)
  await page.getByText('2 documents').waitFor()
  await page.getByLabel('Below').selectOption('/Papers')
  await page.getByText('1 of 2 documents').waitFor()
  await expect.poll(() => shownIn(page, 'Hits')).toEqual(['in-papers.md'])
  await goTo(page, '#/search?query=albatross')
  await page.getByText('Nothing has these words.').waitFor()
})

test('a directory of a thousand entries is paged', async () => {
  const { page, client, library } = await openPage()
  const id = await client.createLibrary()
  const names = Array.from({ length: 1_000 }, (_, index) => `entry-${String(index).padStart(4, '0')}`)
  for (const part of Object.values(Object.groupBy(names, (name) => name.slice(0, 8)))) {
    await Promise.all(
      (part ?? []).map((name) => client.call('POST', `/libraries/${id}/directory`, { path: `/${name}` })),
    )
  }
  await signIn(page, library.token)
  const all: string[] = []
  for (let number = 1; number <= 6; number++) {
    if (number > 1) await page.getByText(`Page ${number}`).waitFor()
    // The number of the page may be there before its entries are.
    await expect
      .poll(async () => {
        const [first] = await shownIn(page, 'Entries')
        return first !== undefined && !all.includes(first)
      })
      .toBe(true)
    all.push(...(await shownIn(page, 'Entries')))
    if (number < 6) await page.getByRole('link', { name: 'Next page' }).click()
  }
  expect(all.map((text) => text.split('\n')[0])).toEqual(['.inbox', ...names])
  await page.goBack()
  await page.getByText('Page 5').waitFor()
  await page.getByRole('link', { name: 'First page' }).click()
  await page.getByRole('link', { name: '.inbox' }).waitFor()
})

test('a document shows its state and the reason', async () => {
  const { page, client, library } = await openPage()
  const id = await client.createLibrary()
  const broken = await client.uploaded(id, { name: 'a.pdf', type: 'application/pdf', content: '%PDF-1.7 nothing' })
  const old = await client.uploaded(id, { name: 'b.doc', type: 'application/msword', content: 'x\0y' })
  await signIn(page, library.token)
  await goTo(page, `#/documents/${id}/${broken}`)
  await page.getByText('Could not be read').waitFor()
  await page.getByText('The PDF is damaged').waitFor()
  await goTo(page, `#/documents/${id}/${old}`)
  await page.getByText('Not wholly searchable').waitFor()
  await goTo(page, `#/documents/${id}/unknown`)
  await page.getByRole('alert').getByText('Resource not found.').waitFor()
})

test('originals are shown without running their scripts [S-22]', async () => {
  const { page, client, library } = await openPage()
  const id = await client.createLibrary()
  const script = 'document.title = "taken"; parent.document.title = "taken"; fetch("/api/v1/auth/check")'
  const html = `<h1>Page</h1><img src="http://elsewhere.invalid/x.png"><script>${script}</script>`
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="40" height="30"><script>${script}</script></svg>`
  const page1 = await client.uploaded(id, { name: 'page.html', type: 'text/html', content: html })
  const drawing = await client.uploaded(id, { name: 'drawing.svg', type: 'image/svg+xml', content: svg })
  await library.settled()
  await signIn(page, library.token)
  await goTo(page, `#/documents/${id}/${page1}`)
  await page.getByRole('button', { name: 'Show the original as text' }).click()
  await expect.poll(() => page.getByRole('region', { name: 'The original as text' }).textContent()).toBe(html)
  await goTo(page, `#/documents/${id}/${drawing}`)
  const picture = page.getByRole('img', { name: 'drawing.svg' })
  await picture.waitFor()
  await expect.poll(() => page.evaluate('document.images[0].naturalWidth')).toBe(40)
  expect(await page.title()).toBe('drawing.svg · Library')
  // Opened by itself, an original still runs nothing and has another origin.
  await page.goto(new URL((await picture.getAttribute('src')) ?? '', library.url).href)
  expect(await page.evaluate('origin')).toBe('null')
})

test('a long original is read in parts', async () => {
  const { page, client, library } = await openPage()
  const id = await client.createLibrary()
  const content = 'Ein Satz mit Umlauten: äöüß.\n'.repeat(3_900)
  const resource = await client.uploaded(id, { name: 'long.txt', content })
  await library.settled()
  await signIn(page, library.token)
  const ranges: (string | undefined)[] = []
  page.on('request', (request) => ranges.push(request.headers().range))
  await goTo(page, `#/documents/${id}/${resource}`)
  await page.getByRole('button', { name: 'Show the original as text' }).click()
  const shown = page.getByRole('region', { name: 'The original as text' })
  const more = page.getByRole('button', { name: /Show more/ })
  await more.click()
  await expect.poll(() => more.count()).toBe(0)
  expect((await shown.textContent()) === content).toBe(true)
  expect(ranges.filter(Boolean)).toEqual(['bytes=0-65535', 'bytes=65536-131071'])
  const passages = page.locator('.passage')
  const before = await passages.count()
  await page.getByRole('button', { name: 'Read on' }).click()
  await expect.poll(() => passages.count()).toBeGreaterThan(before)
})

test('a document opened from a search begins at the first word found, with all of them marked', async () => {
  const { page, client, library } = await openPage()
  const id = await client.createLibrary()
  const filler = Array.from({ length: 150 }, (_, line) => `Line ${line} of other things.`).join('\n\n')
  await client.uploaded(id, {
    name: 'birds.md',
    type: 'text/markdown',
    content: `${filler}\n\nTwo herons wait. A heron!`,
  })
  await client.uploaded(id, { name: 'thai.txt', content: 'สภาพอากาศวันนี้ดีมาก' })
  await library.settled()
  await signIn(page, library.token)
  await goTo(page, '#/search?query=heron')
  await page.getByRole('link', { name: 'birds.md' }).click()
  const marks = page.locator('.passage mark')
  await expect.poll(() => marks.allTextContents()).toEqual(['herons', 'heron'])
  await expect
    .poll(() => page.evaluate('document.querySelector(".passage mark").getBoundingClientRect().y'))
    .toSatisfy((y) => y > 0 && y < 720)
  await goTo(page, `#/search?query=${encodeURIComponent('อากาศ')}`)
  await expect.poll(() => page.locator('.excerpt mark').allTextContents()).toEqual(['อากาศ'])
})

test('a spreadsheet and a table of text are shown as tables, with the words found in them marked', async () => {
  const { page, client, library } = await openPage({ viewport: { width: 390, height: 800 } })
  const id = await client.createLibrary()
  const sheet = readFileSync(join(import.meta.dirname, '../../embedded/ingest/samples/open.xlsx'))
  const wide = Array.from({ length: 30 }, (_, column) => `column ${column}`).join(',')
  const type = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet'
  const book = await client.uploaded(id, { name: 'book.xlsx', type, content: new Uint8Array(sheet) })
  await client.uploaded(id, { name: 'prices.csv', type: 'text/csv', content: `${wide}\nHeron Street,12.5\n` })
  await library.settled()
  await signIn(page, library.token)
  await goTo(page, '#/search?query=heron')
  await page.getByRole('link', { name: 'prices.csv' }).click()
  const cells = page.locator('.passage').getByRole('cell')
  await expect.poll(() => cells.allTextContents()).toEqual([...wide.split(','), 'Heron Street', '12.5'])
  expect(await cells.locator('mark').allTextContents()).toEqual(['Heron'])
  expect(await complaintsOf(page)).toEqual([])
  expect(await page.evaluate('document.documentElement.scrollWidth'), 'the table alone scrolls').toBe(390)
  await goTo(page, `#/documents/${id}/${book}`)
  await page.getByRole('heading', { name: 'book.xlsx' }).waitFor()
  await expect.poll(() => cells.count()).toBeGreaterThan(1)
  expect((await cells.allTextContents()).join()).not.toContain('|')
})

test('a hit has a preview beside it, with its size and date', async () => {
  const { page, client, library } = await openPage()
  const id = await client.createLibrary()
  await client.uploaded(id, { name: 'tides.md', type: 'text/markdown', content: TIDES })
  await library.settled()
  await signIn(page, library.token)
  await goTo(page, '#/search?query=moon')
  const hit = page.getByRole('list', { name: 'Hits' }).getByRole('listitem')
  await hit.getByText(/Markdown · \d+ B · added /).waitFor()
  await page.getByRole('button', { name: 'Preview: tides.md' }).focus()
  await page.keyboard.press('Enter')
  const preview = page.getByRole('region', { name: 'Preview of tides.md' })
  await expect.poll(() => preview.locator('mark').allTextContents()).toEqual(['moon'])
  const [link, box] = [await hit.getByRole('link').boundingBox(), await preview.boundingBox()]
  expect(box?.x, 'it stands beside the hit').toBeGreaterThan((link?.x ?? 0) + (link?.width ?? 0))
  await page.keyboard.press('Enter')
  await expect.poll(() => preview.count()).toBe(0)
})

test('a PDF opens in a tab that cannot reach the page', async () => {
  const { page, client, library } = await openPage()
  const id = await client.createLibrary()
  const pdf = await client.uploaded(id, { name: 'a.pdf', type: 'application/pdf', content: '%PDF-1.7 nothing' })
  await library.settled()
  await signIn(page, library.token)
  await goTo(page, `#/documents/${id}/${pdf}`)
  const opened = page.context().waitForEvent('page')
  await page.getByRole('button', { name: 'Open in a tab' }).click()
  const tab = await opened
  await expect.poll(() => tab.url()).toContain(`/resources/${pdf}?`)
  expect(await tab.evaluate('window.opener')).toBe(null)
  expect(page.url()).toContain('#/documents/')
})

/** A second of silence. */
function silence(): Uint8Array<ArrayBuffer> {
  const rate = 8_000
  const wave = Buffer.alloc(44 + rate, 128)
  wave.write('RIFF', 0)
  wave.writeUInt32LE(36 + rate, 4)
  wave.write('WAVEfmt ', 8)
  for (const [at, value] of [
    [16, 16],
    [24, rate],
    [28, rate],
    [40, rate],
  ] as const)
    wave.writeUInt32LE(value, at)
  for (const [at, value] of [
    [20, 1],
    [22, 1],
    [32, 1],
    [34, 8],
  ] as const)
    wave.writeUInt16LE(value, at)
  wave.write('data', 36)
  return new Uint8Array(wave)
}

test('a recording plays in the page and in a tab of its own', async () => {
  const { page, client, library } = await openPage()
  const id = await client.createLibrary()
  const recording = await client.uploaded(id, { name: 'a.wav', type: 'audio/wav', content: silence() })
  await library.settled()
  await signIn(page, library.token)
  await goTo(page, `#/documents/${id}/${recording}`)
  const seconds = 'document.querySelector("audio, video").duration'
  const player = page.locator('audio')
  await player.waitFor()
  await expect.poll(() => page.evaluate(seconds)).toBe(1)
  const tab = await page.context().newPage()
  await tab.goto(new URL((await player.getAttribute('src')) ?? '', library.url).href)
  await expect.poll(() => tab.evaluate(seconds)).toBe(1)
})

describe('a video', () => {
  needs('ffmpeg', 'ffprobe')
  test('a video shows its frame and its scene at a moment', async () => {
    const { page, client, library } = await openPage()
    const id = await client.createLibrary()
    const film = await client.uploaded(id, { name: 'Film.mp4', type: 'video/mp4', content: largeFilm() })
    await library.settled()
    await signIn(page, library.token)
    await goTo(page, `#/documents/${id}/${film}`)
    await page.getByLabel('At second').fill('2.5')
    for (const kind of ['frame', 'scene']) {
      await page.getByRole('button', { name: `Show the ${kind}` }).click()
      await page.getByRole('img', { name: new RegExp(`^${kind} at 2.5 s$`, 'i') }).waitFor()
      await expect.poll(() => page.evaluate('document.querySelector(".pictures img").naturalWidth')).toBeGreaterThan(0)
    }
    await page.getByLabel('At second').fill('99')
    await page.getByRole('button', { name: 'Show the frame' }).click()
    await page.getByText('The video ends after').waitFor()
  })
})

test('a document is removed once that is confirmed, by who may', async () => {
  const { page, client, library } = await openPage()
  const id = await client.createLibrary()
  for (const name of ['key.md', 'kept.md']) await client.uploaded(id, { name, content: `${name}: a heron waits.` })
  await library.settled()
  await signIn(page, library.token)
  await goTo(page, '#/search?query=heron')
  await page.getByRole('link', { name: 'key.md' }).click()
  await page.getByRole('button', { name: 'Remove…' }).click()
  await page.getByRole('button', { name: 'Close' }).click()
  await page.getByRole('button', { name: 'Remove…' }).click()
  await page.getByText('this cannot be undone').waitFor()
  const [main, close] = ['Remove for good', 'Close'].map((name) => page.getByRole('button', { name }).boundingBox())
  expect(((await close)?.y ?? 0) - ((await main)?.y ?? 0), 'they do not touch').toBeGreaterThan(44)
  await page.getByRole('button', { name: 'Remove for good' }).click()
  await page.getByRole('heading', { name: '.inbox' }).waitFor()
  await expect.poll(() => page.locator('.item').allInnerTexts()).toEqual(['kept.md\nText'])
  expect((await client.get('/search/resources?query=heron')).json.results).toHaveLength(1)
})
