/** What a service hands out reaches the dashboard's page only if the page may open it. */
import { expect, onTestFinished, test } from 'vitest'
import { configure, isIdle, startDaemon } from '../../support/daemon.ts'
import { startFaultyService } from '../../support/faulty-service.ts'
import { temporaryHome } from '../../support/home.ts'
import { goTo, openWindow, useBrowser } from './browser.ts'

useBrowser()

/** The dashboard of a daemon with one document, at a service whose view URLs are those of the test. */
async function openHit() {
  const service = await startFaultyService({ library: 'Test' })
  const home = temporaryHome(service)
  const path = home.write('Papers', { 'tides.md': 'The spring tide.' })
  configure(home, { mirrors: [{ name: 'papers', path, library: 'Test', settle: '0s' }] })
  const daemon = await startDaemon(home)
  await daemon.until('sent', isIdle)
  const { page } = await openWindow(JSON.parse((await home.shelfd(['dashboard', '--json'])).stdout).url)
  await page.getByRole('heading', { name: 'Mirrors', level: 1 }).waitFor()
  const opened: string[] = []
  await page.exposeFunction('recordOpened', (url: string) => void opened.push(url))
  await page.evaluate('window.open = (url) => { window.recordOpened(url); return null }')
  await goTo(page, '#/search?words=tide')
  const button = page.getByRole('button', { name: /^Show what was sent/ })
  await button.waitFor()
  onTestFinished(() => daemon.stop().then(() => {}))
  return { service, page, button, opened }
}

test('the page opens only addresses of the own service [S-24]', async () => {
  const { service, page, button, opened } = await openHit()
  const own = `${service.url}/api/v1/resources/x?signature=y`
  let url = own
  service.answer = ({ route }) =>
    route === 'createResourceViewUrl' ? { status: 200, body: { url, expires_in_minutes: 5 } } : undefined
  await button.click()
  await expect.poll(() => opened).toEqual([own])
  url = '/api/v1/resources/x?signature=y'
  await button.click()
  await expect.poll(() => opened).toEqual([own, own])
  const refused = page.getByRole('alert').filter({ hasText: /(?:gave|returned) an address/ })
  for (url of [
    ...['javascript:alert(1)', 'data:text/html,x', 'file:///etc/passwd'],
    ...['https://elsewhere.example/x', `${service.url}.elsewhere.example/`, '//elsewhere.example/x'],
  ]) {
    await button.click()
    await refused.waitFor()
    await button.isEnabled()
    expect([url, opened]).toEqual([url, [own, own]])
  }
})

test('the page opens nothing that is no web address [S-24]', async () => {
  const { page, button, opened } = await openHit()
  for (const url of ['javascript:alert(1)', ' javascript:alert(1)', 'data:text/html,x', 'file:///etc/passwd', '']) {
    await page.route('**/api/openDocument', (route) => route.fulfill({ json: { url } }))
    await button.click()
    await page.getByRole('alert').getByText('The document has no address that can be opened').waitFor()
    await page.unroute('**/api/openDocument')
    expect([url, opened]).toEqual([url, []])
  }
})
