import { expect, test } from 'vitest'
import { goTo, openPage, signIn, useBrowser } from './browser.ts'
import { complaintsOf, cutOff } from './examine-looks.ts'

useBrowser()

const LONG_NAME = 'Rindfleischetikettierungsüberwachungsaufgabenübertragungsgesetz-Ausführungsbestimmungen.md'

/** Labels as long as German ones, by what they stand for. */
const GERMAN: Readonly<Record<string, string>> = {
  'Sign out': 'Abmelden',
  'Sign in': 'Mit diesem Zugangsschlüssel anmelden',
  'Access token': 'Zugangsschlüssel',
  'Upload files': 'Dateien hochladen',
  'Download the original': 'Originaldatei herunterladen',
  'Show the original as text': 'Originaldatei als Text anzeigen',
  Clear: 'Erledigte ausblenden',
  Searchable: 'Durchsuchbar',
  'Next page': 'Nächste Seite',
  Below: 'Unterhalb von',
}

async function openFilled(options: Parameters<typeof openPage>[0]) {
  const opened = await openPage(options)
  const { client, library, page } = opened
  const id = await client.createLibrary()
  await client.createLibrary()
  await client.call('POST', `/libraries/${id}/directory`, { path: '/Papers' })
  const content =
    '# Tides\n\nThe spring tide follows the new moon.\n\n```\nindented code that is rather long, as code may be\n```\n'
  const tides = await client.uploaded(id, { name: LONG_NAME, type: 'text/markdown', content, path: '/Papers' })
  const broken = await client.uploaded(id, {
    name: 'a.pdf',
    type: 'application/pdf',
    content: '%PDF-',
    path: '/Papers',
  })
  await library.settled()
  const views = {
    libraries: ['#/', 'Libraries'],
    directory: [`#/files/${id}/Papers`, 'Papers'],
    search: [`#/search?query=spring+tide&library=${id}`, 'Search for spring tide'],
    document: [`#/documents/${id}/${tides}`, LONG_NAME],
    broken: [`#/documents/${id}/${broken}`, 'a.pdf'],
  } as const
  const show = async (view: keyof typeof views) => {
    const [address, heading] = views[view]
    await goTo(page, address)
    await page.getByRole('heading', { name: heading, level: 1 }).waitFor()
    await page
      .getByRole('list')
      .or(page.getByRole('button', { name: 'Download the original' }))
      .first()
      .waitFor()
    if (view === 'search') {
      await page.getByRole('button', { name: /^Preview: / }).click()
      await page
        .getByRole('region', { name: /^Preview of / })
        .getByText('Markdown ·')
        .waitFor()
    }
  }
  return { ...opened, views: Object.keys(views) as (keyof typeof views)[], show }
}

test('axe finds no violation in any view, light or dark', async () => {
  const { page, library, views, show } = await openFilled({ colorScheme: 'light' })
  expect(await complaintsOf(page)).toEqual([])
  await signIn(page, library.token)
  for (const view of views) {
    await show(view)
    expect([view, await complaintsOf(page)]).toEqual([view, []])
  }
  await page.keyboard.press('?')
  await page.getByRole('dialog', { name: 'Keyboard' }).waitFor()
  expect(await complaintsOf(page)).toEqual([])
})

test('dark colours follow the system', async () => {
  const { page } = await openPage({ colorScheme: 'light' })
  const paper = () => page.evaluate('getComputedStyle(document.body).backgroundColor')
  const light = await paper()
  await page.emulateMedia({ colorScheme: 'dark' })
  expect([light, await paper()]).toEqual(['rgb(251, 250, 248)', 'rgb(25, 26, 26)'])
})

test('no view is cut off at 320 pixels, also in German', async () => {
  const { page, library, views, show } = await openFilled({ viewport: { width: 320, height: 640 } })
  expect(await cutOff(page, GERMAN)).toEqual([320])
  await page.reload()
  await signIn(page, library.token)
  for (const view of views) {
    await show(view)
    expect([view, await cutOff(page, GERMAN)]).toEqual([view, [320]])
    await page.reload()
    await page.getByRole('button', { name: 'Sign out' }).waitFor()
  }
})

test('the keyboard alone leads from the sign-in to a document and back', async () => {
  const { page, client, library } = await openPage()
  const id = await client.createLibrary()
  for (const name of ['a.md', 'b.md', 'c.md']) await client.uploaded(id, { name, content: `About ${name}, a kestrel.` })
  await library.settled()
  const focused = () => page.evaluate('document.activeElement.innerText.split("\\n")[0]')
  const press = async (...keys: string[]) => {
    for (const key of keys) await page.keyboard.press(key)
  }
  await page.keyboard.type(library.token)
  await press('Enter')
  await page.getByRole('link', { name: '.inbox' }).waitFor()
  await press('Tab')
  await expect.poll(focused).toBe('Skip to the content')
  await press('Enter', 'Tab')
  await expect.poll(focused).toBe('Upload files')
  await press('Tab', 'Enter')
  await page.getByRole('link', { name: 'b.md' }).waitFor()
  await expect.poll(focused).toBe('.inbox')
  await press('Tab', 'Tab', 'Tab', 'ArrowDown', 'End', 'ArrowUp')
  await expect.poll(focused).toBe('b.md')
  const outline = 'getComputedStyle(document.activeElement).outlineStyle'
  expect(await page.evaluate(outline)).toBe('solid')
  await press('Enter')
  await page.getByRole('heading', { name: 'b.md' }).waitFor()
  await press('Escape')
  await page.getByRole('link', { name: 'b.md' }).waitFor()
  await expect.poll(focused).toBe('b.md')
  await press('Escape')
  await expect.poll(focused).toBe('.inbox')
  await press('/')
  await page.keyboard.type('kestrel')
  await press('Enter')
  await page.getByText('3 documents').waitFor()
  await press('/', 'ArrowDown', 'ArrowDown', 'Enter')
  await page.getByRole('heading', { name: 'Text', exact: true }).waitFor()
  await press('Escape', '?')
  await page.getByRole('dialog').waitFor()
  await press('Escape')
  await expect.poll(() => page.getByRole('dialog').count()).toBe(0)
  await page.getByRole('list', { name: 'Hits' }).waitFor()
})
