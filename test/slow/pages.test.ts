/**
 * Types the commands that the pages show in `console` blocks, and compares what is printed. A `yaml` block is the configuration from
 * there on. `WRITE_TOUR=1` writes what is printed into the pages.
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { blocksOf, commandsOf, PageHome, readPage, withoutChance } from '../support/pages.ts'

const PROJECT = join(import.meta.dirname, '..', '..')
const PAGES = ['README.md', 'docs/searching.md', 'docs/using.md']

// On a busy machine, the commands of a page take more than the usual two minutes.
vi.setConfig({ testTimeout: 300_000 })

test.each(PAGES)('each command on %s prints what the page shows', async (name) => {
  const page = readPage(name)
  const home = new PageHome()
  let written = page
  for (const { language, text } of blocksOf(page, ['yaml', 'console'])) {
    if (language === 'yaml') {
      home.configure(text)
      continue
    }
    const printed: string[] = []
    for (const { command, output } of commandsOf(text)) {
      const typed = await home.type(command)
      printed.push([`$ ${command}`, ...(typed.output === '' ? [] : [typed.output])].join('\n'))
      if (process.env.WRITE_TOUR !== undefined) continue
      expect({ command, exitCode: typed.exitCode, output: withoutChance(typed.output) }).toEqual({
        command,
        exitCode: 0,
        output: withoutChance(output),
      })
    }
    written = written.replace(text, () => `${printed.join('\n')}\n`)
  }
  if (process.env.WRITE_TOUR !== undefined) writeFileSync(join(PROJECT, name), written)
})
