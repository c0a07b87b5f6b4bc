/** `shelfd pause` without a name, on a terminal. */
import { expect, test } from 'vitest'
import { expectExit, homeWithPapers } from '../support/home.ts'
import { openTerminal } from '../support/terminal.ts'

test('a pause without a name asks which of several mirrors are meant, and pauses all where nobody can be asked', async () => {
  const home = homeWithPapers({ 'a.md': 'A' })
  home.write('Music', { 'b.md': 'B' })
  for (const directory of ['Papers', 'Music']) await home.sync([directory])
  const terminal = openTerminal(['pause'], home)
  await terminal.shows('Pause which mirrors?')
  // All are chosen at first: this takes the first one away.
  terminal.type(' \r')
  const { exitCode, output } = await terminal.ended
  expect(exitCode).toBe(0)
  expect(output).toMatch(/Paused: (?:Papers|Music);/)
  expectExit(await home.shelfd(['pause']), 0, 'Paused: all mirrors')
})
