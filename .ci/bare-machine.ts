/**
 * Runs the tests that need programs of the system as on a machine that has nothing but Node, npm, git, sh and coreutils: those tests
 * must be left out, and all others pass. Arguments are files of tests to run instead.
 */
import { spawnSync } from 'node:child_process'
import { globSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { BARE_PROGRAMS, findProgram } from '../test/support/programs.ts'

const PROJECT = join(import.meta.dirname, '..')
const NEEDS = join(PROJECT, 'test', 'support', 'needs.ts')

/** What is loaded with a file: types are not. */
const IMPORTS = /^(?:import|export) (?!type )[^']*?from '(\.[^']+\.ts)'/gm

const given = process.argv.slice(2)
const files = given.length > 0 ? given : globSync('test/**/*.test.ts', { cwd: PROJECT }).filter((file) => reaches(file))
const path = mkdtempSync(join(tmpdir(), 'bare-machine-'))
for (const name of BARE_PROGRAMS) {
  const program = name === 'node' ? process.execPath : findProgram(name)
  if (program === undefined) throw new Error(`This machine has no ${name}`)
  symlinkSync(program, join(path, name))
}
const { SHELFD_RUN_ALL_TESTS: _, ...env } = process.env
const vitest = join(PROJECT, 'node_modules', 'vitest', 'vitest.mjs')
const { status } = spawnSync(process.execPath, [vitest, 'run', ...files], {
  cwd: PROJECT,
  env: { ...env, PATH: path },
  stdio: 'inherit',
})
rmSync(path, { recursive: true })
process.exitCode = status ?? 1

/** Returns whether a file imports the helper that leaves tests out, itself or by what it imports. */
function reaches(file: string, seen = new Set<string>()): boolean {
  const absolute = join(PROJECT, file)
  if (absolute === NEEDS) return true
  if (seen.has(file)) return false
  seen.add(file)
  return [...readFileSync(absolute, 'utf8').matchAll(IMPORTS)].some(([, target = '']) => {
    const imported = join(dirname(file), target)
    return imported.startsWith('test/') && reaches(imported, seen)
  })
}
