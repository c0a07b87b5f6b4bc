/** The pages of a checkout, which has no program `shelfd`, in a real browser. */
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { expect, test } from 'vitest'
import { temporaryHome } from '../../support/home.ts'
import { SOURCE_MAIN, startShelfd } from '../../support/run-shelfd.ts'
import { openWindow, useBrowser } from './browser.ts'

useBrowser()

const START = join(SOURCE_MAIN, '..', 'start.ts')

/** Runs a command as `npm start -- COMMAND` does, and opens the address that it prints. */
async function openPrinted(command: readonly string[]) {
  const home = temporaryHome()
  const env = { ...home.env, SHELFD_STATE_DIR: home.stateDir, SHELFD_DATA_DIR: home.dataDir }
  const { child } = startShelfd([...command, '--json'], { env, cwd: home.path, main: START })
  if (!child.stdout) throw new Error('Nothing can be read')
  const [line] = await once(createInterface(child.stdout), 'line')
  const { page } = await openWindow(JSON.parse(line).url)
  return page
}

test('the dashboard of a checkout names commands as they are typed', async () => {
  const page = await openPrinted(['dashboard'])
  await page.getByText('"npm start -- service install" keeps them up to date.').waitFor()
  await page.getByText('npm start -- sync DIRECTORY', { exact: true }).waitFor()
  const noscript = await page.locator('noscript').textContent()
  expect(noscript).toContain('npm start -- status')
  await page.getByRole('button', { name: 'Sign out' }).click()
  await page.getByText('npm start -- dashboard', { exact: true }).waitFor()
  await page.goto(`${page.url().replace(/#.*/, '')}#/sign-in/used`)
  await page.getByText('run "npm start -- dashboard" again').waitFor()
})

test('the page of a library in a checkout names commands as they are typed', async () => {
  const page = await openPrinted(['serve', '--port', '0'])
  await page.getByText('npm start -- serve tokens create', { exact: true }).waitFor()
})
