/** The first steps with a configured service, as a new user types them; pages.test.ts types those without one. */
import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { startFaultyService } from '../support/faulty-service.ts'
import { titlesIn } from '../support/library-contents.ts'
import { blocksOf, PageHome, readPage } from '../support/pages.ts'

test('the first steps with a configured service work as printed', async () => {
  const section = readPage('docs/using.md').split('## With a configured service')[1] ?? ''
  await using service = await startFaultyService()
  const home = new PageHome()
  const [yaml] = blocksOf(section, ['yaml'])
  home.configure(yaml?.text.replace('https://library.example.com', service.url) ?? '')
  const token = join(home.path, '.config', 'shelfd', 'token')
  writeFileSync(token, service.token)
  chmodSync(token, 0o600)
  const commands = [...section.matchAll(/^\$ (shelfd .*)$/gm)].map(([, command = '']) => command)
  expect(commands).toContain('shelfd sync')
  for (const command of commands) expect(await home.type(command)).toMatchObject({ exitCode: 0 })
  expect(titlesIn(service)).toEqual(['moon.md', 'tides.md'])
})
