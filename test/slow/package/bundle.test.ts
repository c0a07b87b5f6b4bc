/** What the bundle is made of. */
import { globSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { ENTRIES } from '../../../.ci/bundle.ts'
import { PAGES } from '../../../.ci/bundle-web.ts'
import knip from '../../../knip.json' with { type: 'json' }

const SRC = fileURLToPath(new URL('../../../src', import.meta.url))

test('the bundle has a file for each thread and child process', () => {
  const started = globSync(join(SRC, '**', '*.ts')).flatMap((file) => {
    const names = readFileSync(file, 'utf8').matchAll(/threadEntry\('(?<name>[^']+)', import\.meta\.url\)/g)
    return [...names].map(({ groups }) => relative(SRC, join(dirname(file), groups?.name ?? '')))
  })
  expect(['main', ...started].sort()).toEqual([...ENTRIES].sort())
  const known = knip.workspaces['.'].entry.filter((entry) => entry.startsWith('src/'))
  const pages = PAGES.map((name) => `src/web/${name}/main.tsx!`)
  expect(known.sort()).toEqual([...ENTRIES.map((name) => `src/${name}.ts!`), ...pages].sort())
})
