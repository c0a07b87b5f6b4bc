import { chmodSync, existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openWithSystem } from '../../src/app/open-with-system.ts'
import { temporaryDirectory, writeTree } from '../support/temporary.ts'

const ADDRESS = 'http://127.0.0.1:4711/#/sign-in/key'

/** Variables of a graphical session whose `xdg-open` writes down its argument and the token that it was given. */
function session() {
  const directory = writeTree(temporaryDirectory(), {
    'xdg-open': '#!/bin/sh\nprintf "%s|%s" "$1" "$SHELFD_TOKEN" > "$SEEN.part" && mv "$SEEN.part" "$SEEN"\n',
  })
  chmodSync(join(directory, 'xdg-open'), 0o755)
  const seen = join(directory, 'seen')
  const env = { PATH: `${directory}:/usr/bin:/bin`, DISPLAY: ':0', SEEN: seen, SHELFD_TOKEN: 'canary' }
  return { env, seen }
}

test.skipIf(process.platform !== 'linux')('an address is shown in the browser of a graphical session', async () => {
  const { env, seen } = session()
  expect(await openWithSystem(ADDRESS, env)).toBe(true)
  await expect.poll(() => existsSync(seen), { timeout: 30_000 }).toBe(true)
  expect(readFileSync(seen, 'utf8'), 'the address, and no token').toBe(`${ADDRESS}|`)
})

test.skipIf(process.platform !== 'linux')('without a screen or a browser nothing is opened', async () => {
  const { env, seen } = session()
  expect(await openWithSystem(ADDRESS, { ...env, DISPLAY: undefined })).toBe(false)
  expect(await openWithSystem(ADDRESS, { ...env, PATH: '/nowhere' })).toBe(false)
  expect(existsSync(seen)).toBe(false)
})
