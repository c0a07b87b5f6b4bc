/** `npm start` in a checkout, run by a user who has a state and a service already. */
import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { configure } from '../support/daemon.ts'
import { startFaultyService } from '../support/faulty-service.ts'
import { type Home, homeWithPapers, temporaryHome } from '../support/home.ts'
import { readLibrary } from '../support/library-contents.ts'
import { blocksOf, commandsOf, PAPERS, readPage, withoutChance } from '../support/pages.ts'

const PROJECT = join(import.meta.dirname, '..', '..')

/** Makes a checkout of this project, without ignored files. */
function checkout(directory: string): string {
  for (const name of ['src', 'docs', 'config', 'package.json']) {
    cpSync(join(PROJECT, name), join(directory, name), { recursive: true })
  }
  symlinkSync(join(PROJECT, 'node_modules'), join(directory, 'node_modules'))
  return directory
}

/** One for the tests that leave nothing in it, so that Node compiles it once. */
const directory = mkdtempSync(join(tmpdir(), 'shelfd-checkout-'))
beforeAll(() => void checkout(directory))
afterAll(() => rmSync(directory, { recursive: true }))

function start(home: Home, args: readonly string[] = [], env: Readonly<Record<string, string>> = {}) {
  const given = { ...home.env, INIT_CWD: home.path, ...env }
  const options = { env: given, cwd: directory, encoding: 'utf8' } as const
  const { status, stdout, stderr } = spawnSync(process.execPath, ['src/start.ts', ...args], options)
  return { exitCode: status, stdout, stderr }
}

test("the first minute goes as its page shows, and leaves the user's state and service alone", async () => {
  await using service = await startFaultyService({ library: 'Research' })
  const home = temporaryHome()
  const papers = home.write('Papers', PAPERS)
  configure(home, { service: { url: service.url }, mirrors: [{ path: papers, library: 'Research' }] })
  const cloned = checkout(join(home.path, 'shelfd'))
  const env = { ...home.env, npm_config_update_notifier: 'false' }
  const [block] = blocksOf(readPage('docs/start.md'), ['console'])
  const [clone, ...others] = commandsOf(block?.text ?? '')
  // The checkout is what this command makes.
  expect(clone?.command).toMatch(/^git clone .* npm ci$/)
  expect(others).toHaveLength(2)
  for (const { command, output } of others) {
    const { status, stdout } = spawnSync('sh', ['-c', `exec 2>&1; ${command}`], { env, cwd: cloned, encoding: 'utf8' })
    const printed = stdout.replaceAll(home.path, '/home/ada')
    expect({ status, printed: withoutChance(printed) }).toEqual({ status: 0, printed: withoutChance(output) })
  }
  expect(service.requests).toEqual([])
  expect(existsSync(home.stateDir)).toBe(false)
  expect(existsSync(home.dataDir)).toBe(false)
  expect(readdirSync(join(cloned, '.shelfd')).sort()).toEqual(['cache', 'config.yaml', 'library', 'state'])
  expect(existsSync(join(home.path, 'cache'))).toBe(false)
  expect(readLibrary(join(cloned, '.shelfd', 'library'))).toHaveLength(2)
})

test('npm start follows flags and variables', async () => {
  const home = homeWithPapers({ 'a.md': 'pelican' })
  const own = { SHELFD_STATE_DIR: home.stateDir }
  const args = ['Papers', '--dry-run', '--state-dir', join(home.path, 'flagged')]
  expect(start(home, args, own).exitCode).toBe(0)
  expect(existsSync(join(home.path, 'flagged'))).toBe(true)
  expect(start(home, ['Papers', '--dry-run'], own).exitCode).toBe(0)
  expect(existsSync(home.stateDir)).toBe(true)
  expect(existsSync(join(directory, '.shelfd', 'state'))).toBe(false)
})

test('npm start changes its own configuration, and no file of the checkout', () => {
  const home = temporaryHome()
  const cloned = checkout(join(home.path, 'shelfd'))
  const run = (...args: string[]) =>
    spawnSync(process.execPath, ['src/start.ts', ...args], { env: home.env, cwd: cloned, encoding: 'utf8' })
  expect(run('config', 'set', 'limits.transfers', '8').status).toBe(0)
  expect(run('config', 'get', 'limits.transfers').stdout).toBe('8\n')
  expect(readFileSync(join(cloned, '.shelfd', 'config.yaml'), 'utf8')).toMatch(/^# `npm start` reads.*transfers: 8/s)
})

test('npm start takes a mistyped command for no directory', () => {
  const home = temporaryHome()
  const mistyped = start(home, ['serch', 'pelican'])
  expect(mistyped).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('did you mean "search"?') })
  expect(start(home, ['failed'])).toMatchObject({
    exitCode: 0,
    stderr: expect.stringContaining('Nothing is in quarantine'),
  })
})

test('npm start takes help and version for commands', () => {
  const home = temporaryHome()
  expect(start(home, ['help', 'search'])).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('--strategy') })
  expect(start(home, ['version'])).toMatchObject({ exitCode: 0, stdout: expect.stringMatching(/^\d+\.\d+\.\d+/) })
})

test('npm start without a directory mirrors the docs of the checkout', () => {
  const home = temporaryHome()
  const pictures = readdirSync(join(directory, 'docs', 'images')).filter((name) => name.endsWith('.png'))
  const { exitCode, stdout, stderr } = start(home)
  expect({ exitCode, stdout }).toEqual({
    exitCode: 0,
    stdout: expect.stringMatching(/^docs: .*\n {2}= +\d+ in-sync$/m),
  })
  // Recognizing their words would take most of the time. The file that leaves them out is left out, too.
  expect(stdout).toMatch(new RegExp(`^ {2}left out +${pictures.length + 1}$`, 'm'))
  expect(stderr).toContain('The pictures of the docs are left out')
})
