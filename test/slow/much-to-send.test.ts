/** What a sync into this computer's library says and asks before it sends more than 1 GiB. */
import { truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { homeWithPapers } from '../support/home.ts'
import { readLibrary } from '../support/library-contents.ts'
import { openTerminal } from '../support/terminal.ts'

test('the room that a large sync takes is said, and asked about on a terminal', async () => {
  const home = homeWithPapers({ 'a.md': 'A' })
  const image = join(home.path, 'Papers', 'disk.img')
  writeFileSync(image, 'x')
  truncateSync(image, 1_181_116_006)
  const terminal = openTerminal(['sync', 'Papers'], home)
  await terminal.shows('takes up to 1.1 GiB more')
  await terminal.shows('Send all of it? [y/N]')
  terminal.type('n\r')
  const { exitCode, output } = await terminal.ended
  expect(exitCode).toBe(8)
  expect(output).toContain('Nothing new was sent')
  expect(readLibrary(home.dataDir)).toEqual([])
  const elsewhere = home.start(['sync', 'Papers'])
  await elsewhere.logged(/takes up to 1\.1 GiB more; .* are free there/)
  await elsewhere.kill()
})
