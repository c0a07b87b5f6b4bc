import { expect, onTestFinished, test } from 'vitest'
import { createToken, revokeToken } from '../../../src/embedded/access/manage-tokens.ts'
import { startEmbeddedLibrary } from '../../../src/embedded/start-embedded.ts'
import { openPage, signIn, useBrowser } from './browser.ts'

useBrowser()

test('a wrong token is refused in words', async () => {
  const { page } = await openPage()
  const alert = page.getByRole('alert')
  await page.getByLabel('Access token').fill('wrong')
  await page.keyboard.press('Enter')
  await expect.poll(() => alert.textContent()).toBe('The token is not valid.')
  await page.getByLabel('Access token').fill('not a token')
  await page.keyboard.press('Enter')
  await alert.getByText('A token is one word').waitFor()
  await expect.poll(() => page.getByRole('button', { name: 'Sign out' }).count()).toBe(0)
})

test('the token stays in the tab until the user signs out [S-22]', async () => {
  const { page, library } = await openPage()
  await signIn(page, library.token)
  await page.reload()
  await page.getByRole('button', { name: 'Sign out' }).click()
  await page.getByLabel('Access token').waitFor()
  await page.reload()
  await page.getByLabel('Access token').waitFor()
  expect(await page.evaluate('[sessionStorage.length, localStorage.length, document.cookie]')).toEqual([0, 0, ''])
})

test('the token is in no address and no page [S-22]', async () => {
  const { page, library, client } = await openPage()
  const addresses: string[] = []
  page.on('request', (request) => addresses.push(request.url()))
  page.on('framenavigated', (frame) => addresses.push(frame.url()))
  const id = await client.createLibrary()
  const resource = await client.uploaded(id, { name: 'tides.md', content: '# Tides' })
  await library.settled()
  await signIn(page, library.token)
  await page.getByRole('link', { name: '.inbox' }).click()
  await page.getByRole('link', { name: 'tides.md' }).click()
  const download = page.waitForEvent('download')
  await page.getByRole('button', { name: 'Download the original' }).click()
  expect((await download).suggestedFilename()).toBe('tides.md')
  addresses.push((await download).url())
  expect(addresses.some((address) => address.includes(resource))).toBe(true)
  expect([...addresses, await page.content()].filter((text) => text.includes(library.token))).toEqual([])
})

test('a token revoked meanwhile leads to the sign-in [S-22]', async () => {
  const { page, client, dataDir } = await openPage()
  await client.createLibrary()
  await signIn(page, createToken(dataDir, { name: 'short', libraries: 'all', access: ['read'] }, Date.now()))
  const inbox = page.getByRole('link', { name: '.inbox' })
  await inbox.waitFor()
  revokeToken(dataDir, 'short', Date.now())
  await inbox.click()
  await expect.poll(() => page.getByRole('alert').textContent()).toBe('The token has been revoked.')
  expect(await page.evaluate('sessionStorage.length')).toBe(0)
})

test('a stopped library is reported, and can be tried again', async () => {
  const first = await openPage()
  const { page, library, client, dataDir } = first
  await client.createLibrary()
  await signIn(page, library.token)
  const inbox = page.getByRole('link', { name: '.inbox' })
  await inbox.waitFor()
  await first.stop()
  await inbox.click()
  await page.getByRole('alert').getByText('The library does not answer.').waitFor()
  const again = await startEmbeddedLibrary({ dataDir, port: Number(new URL(library.url).port) })
  onTestFinished(async () => await again[Symbol.asyncDispose]())
  await page.getByRole('button', { name: 'Try again' }).click()
  await page.getByText('This directory is empty.').waitFor()
})

test('a reader without the right to upload gets no upload button', async () => {
  const { page, client, dataDir } = await openPage()
  await client.createLibrary()
  await signIn(page, createToken(dataDir, { name: 'reader', libraries: 'all', access: ['read'] }, Date.now()))
  await page.getByText('Your token may read here, but not upload.').waitFor()
  await expect.poll(() => page.getByRole('button', { name: 'Upload files' }).count()).toBe(0)
})
