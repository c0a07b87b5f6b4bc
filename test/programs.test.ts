/** Tests that need programs of the system say so, and the end of a run names the programs that were missing. */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { BARE_PROGRAMS, describeMissing, noteOf, PROGRAMS } from './support/programs.ts'

const CALL = /\b(?:execFile|execFileSync|spawn|spawnSync|promisify\(execFile\))\(\s*'([\w-]+)'/g

/** Their callers say what they need, or they do without. */
const HELPERS = ['support/programs.ts', 'support/clean-root.ts', 'support/memory-disk.ts', 'support/state-faults.ts']
/** Run by hand, where their programs are known to be there. */
const INSTRUMENTS = ['anywhere', 'bench', 'mutants', 'real-documents', 'search-quality'].map(
  (name) => `instruments/${name}/**`,
)

test('each test that starts a program of the system is left out where the program is missing', () => {
  const sources = globSync('**/*.ts', { cwd: import.meta.dirname, exclude: [...INSTRUMENTS, '**/node_modules'] })
  const offenders = sources.flatMap((file) => {
    const text = readFileSync(join(import.meta.dirname, file), 'utf8')
    const started = [...text.matchAll(CALL)]
      .map(([, name = '']) => name)
      .filter((name) => !BARE_PROGRAMS.includes(name))
    const isGuarded = HELPERS.includes(file) || /\bneeds\(/.test(text)
    return started.filter((name) => !isGuarded || !isKnown(name)).map((name) => `${file} starts ${name}`)
  })
  expect(offenders).toEqual([])
})

test('the end of a run names what is missing, the tests that need it and what installs programs', () => {
  expect(describeMissing([undefined, 'for another reason'])).toEqual([])
  expect(describeMissing([noteOf(['gcc']), noteOf(['openssl', 'gcc']), undefined, noteOf(['mounts'])])).toEqual([
    '3 tests left out for what is missing here:',
    '  gcc                 needed by 2 tests',
    '  the right to mount  needed by 1 test',
    '  openssl             needed by 1 test',
    'Install the programs: apt-get install --no-install-recommends gcc libc6-dev openssl',
  ])
  expect(describeMissing([noteOf(['root'])])).toHaveLength(2)
})

function isKnown(name: string): boolean {
  const known: readonly string[] = PROGRAMS
  return known.includes(name)
}
