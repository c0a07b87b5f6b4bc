/** `npm start` in a checkout, run by a user who has a state and a service already. */
import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, readdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { configure } from '../support/daemon.ts'
import { startFaultyService } from '../support/faulty-service.ts'
import { type Home, temporaryHome } from '../support/home.ts'
import { readLibrary } from '../support/library-contents.ts'
import { temporaryDirectory } from '../support/temporary.ts'

const PROJECT = join(import.meta.dirname, '..', '..')

/** A checkout of this project, without ignored files. */
function checkout(): string {
  const directory = temporaryDirectory()
  for (const name of ['src', 'docs', 'config', 'package.json']) {
    cpSync(join(PROJECT, name), join(directory, name), { recursive: true })
  }
  symlinkSync(join(PROJECT, 'node_modules'), join(directory, 'node_modules'))
  return directory
}

function start(
  home: Home,
  directory: string,
  args: readonly string[] = [],
  env: Readonly<Record<string, string>> = {},
) {
  const given = { ...home.env, INIT_CWD: home.path, ...env }
  const options = { env: given, cwd: directory, encoding: 'utf8' } as const
  const { status, stdout, stderr } = spawnSync(process.execPath, ['src/start.ts', ...args], options)
  return { exitCode: status, stdout, stderr }
}

test("npm start leaves the user's state and service alone", async () => {
  await using service = await startFaultyService({ library: 'Research' })
  const home = temporaryHome()
  const papers = home.write('Papers', { 'a.md': 'pelican' })
  configure(home, { service: { url: service.url }, mirrors: [{ path: papers, library: 'Research' }] })
  const directory = checkout()
  const { exitCode, stdout } = start(home, directory, ['Papers'])
  expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: expect.stringMatching(/Papers:\/Papers[\s\S]*in-sync/) })
  // A command by its name uses what was mirrored.
  expect(start(home, directory, ['search', 'pelican']).stdout).toContain('/Papers/a.md')
  expect(service.requests).toEqual([])
  expect(existsSync(home.stateDir)).toBe(false)
  expect(existsSync(home.dataDir)).toBe(false)
  expect(readdirSync(join(directory, '.shelfd')).sort()).toEqual(['library', 'state'])
  expect(readLibrary(join(directory, '.shelfd', 'library'))).toHaveLength(1)
})

test('npm start follows flags and variables', async () => {
  const home = temporaryHome()
  home.write('Papers', { 'a.md': 'pelican' })
  const directory = checkout()
  const own = { SHELFD_STATE_DIR: home.stateDir }
  const args = ['Papers', '--dry-run', '--state-dir', join(home.path, 'flagged')]
  expect(start(home, directory, args, own).exitCode).toBe(0)
  expect(existsSync(join(home.path, 'flagged'))).toBe(true)
  expect(start(home, directory, ['Papers', '--dry-run'], own).exitCode).toBe(0)
  expect(existsSync(home.stateDir)).toBe(true)
  expect(existsSync(join(directory, '.shelfd', 'state'))).toBe(false)
})

test('npm start takes a mistyped command for no directory', () => {
  const home = temporaryHome()
  const directory = checkout()
  const mistyped = start(home, directory, ['serch', 'pelican'])
  expect(mistyped).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('did you mean "search"?') })
  expect(start(home, directory, ['failed'])).toMatchObject({
    exitCode: 0,
    stdout: expect.stringContaining('failed list'),
  })
})
