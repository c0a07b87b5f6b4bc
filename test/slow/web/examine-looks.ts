import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { AxeResults } from 'axe-core'
import type { Page } from 'playwright-core'

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** Returns what axe finds, in light colours and in dark ones. */
export async function complaintsOf(page: Page): Promise<string[]> {
  await page.evaluate(AXE)
  const light = (await page.evaluate('axe.run()')) as AxeResults
  await page.emulateMedia({ colorScheme: 'dark' })
  const dark = (await page.evaluate("axe.run({ runOnly: ['color-contrast'] })")) as AxeResults
  await page.emulateMedia({ colorScheme: 'light' })
  return [...light.violations, ...dark.violations].map(
    ({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`,
  )
}

/**
 * Puts longer words into the place of some texts, then returns the width that the page takes, and the elements that are cut off
 * at 320 pixels, or take room though they are only read out. What scrolls by itself may be wider.
 */
export async function cutOff(page: Page, words: Readonly<Record<string, string>>): Promise<unknown> {
  return await page.evaluate(`{
    const longer = ${JSON.stringify(words)}
    const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
    while (texts.nextNode()) texts.currentNode.data = longer[texts.currentNode.data.trim()] ?? texts.currentNode.data
    const wide = [...document.querySelectorAll('body *')].filter((each) => {
      const { right, left, width, height } = each.getBoundingClientRect()
      const isOnlyRead = getComputedStyle(each).clipPath !== 'none'
      return isOnlyRead ? width > 1 || height > 1 : right > 320.5 || left < -0.5
    })
    ;[document.documentElement.scrollWidth, ...wide.map((each) => each.outerHTML.slice(0, 80))]
  }`)
}
