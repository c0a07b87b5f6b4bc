import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core'
import { afterAll, beforeAll, expect, onTestFinished } from 'vitest'
import { startLibrary } from '../../embedded/temporary-library.ts'
import { needs } from '../../support/needs.ts'
import { findProgram } from '../../support/programs.ts'

let browser: Browser | undefined

/** Starts a browser for the tests of the file that calls this; playwright-core brings none. */
export function useBrowser(): void {
  needs('chromium')
  beforeAll(async () => {
    const executablePath = findProgram('chromium')
    if (executablePath === undefined) return
    // The sandbox of Chromium cannot be set up by root.
    const args = process.getuid?.() === 0 ? ['--no-sandbox'] : []
    browser = await chromium.launch({ executablePath, args })
  })
  afterAll(async () => await browser?.close())
}

/** A library of its own, and a page of it in a window of its own that nobody has signed in to. */
export async function openPage(options: BrowserContextOptions = {}, of: Parameters<typeof startLibrary>[0] = {}) {
  const running = await startLibrary(of)
  return { ...running, ...(await openWindow(running.library.url, options)) }
}

/**
 * Opens a window on the page at an address. When the test is over, the window must have sent requests to that server alone, and
 * broken no rule of its content security policy.
 */
export async function openWindow(address: string, options: BrowserContextOptions = {}) {
  const own = new URL(address).origin
  const context = await browser?.newContext({ reducedMotion: 'reduce', ...options })
  const page = await context?.newPage()
  if (!page) throw new Error('There is no browser')
  const foreign: string[] = []
  const complaints: string[] = []
  page.on('request', (request) => {
    const { protocol, origin } = new URL(request.url())
    if (origin !== own && protocol !== 'blob:') foreign.push(request.url())
  })
  page.on('console', (message) => {
    if (/Content Security Policy|Trusted/i.test(message.text())) complaints.push(message.text())
  })
  page.on('pageerror', (error) => complaints.push(String(error)))
  onTestFinished(async () => {
    await context?.close()
    expect({ foreign, complaints }).toEqual({ foreign: [], complaints: [] })
  })
  await page.goto(address)
  return { page }
}

/** Opens an address of the page, such as `#/files/LIBRARY`, in a window that is signed in. */
export async function goTo(page: Page, address: string): Promise<void> {
  await page.evaluate(`location.hash = ${JSON.stringify(address)}`)
}

/** Signs in with the token of the owner. */
export async function signIn(page: Page, token: string): Promise<void> {
  await page.getByLabel('Access token').fill(token)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('button', { name: 'Sign out' }).waitFor()
}
