import { spawnSync } from 'node:child_process'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createRootScope, type IgnoreScope } from '../../src/local/ignore/ignore-scope.ts'
import { temporaryDirectory } from '../support/temporary.ts'

const segment = fc.constantFrom('a', 'b', 'c', 'ab', 'abc', 'a.md', 'b.md', 'c.txt', 'A', 'x y', '#h', '!n', 'a[b]')
const filePath = fc.array(segment, { minLength: 1, maxLength: 4 }).map((parts) => parts.join('/'))
const glob = fc.constantFrom(
  'a',
  'b',
  'c',
  'ab',
  'a*',
  '*b',
  '*',
  '?',
  'a?',
  '*.md',
  'a*c',
  '**',
  '[ab]',
  '[!a]',
  'a[b-c]',
  '[a-c]*',
  '\\#h',
  '\\!n',
  'a\\[b]',
  'x y',
  'x\\ y',
  '*.[mt]*',
  '[]a]',
  '[[:upper:]]',
  'a\\*',
  '***',
  '[a',
  'A',
  '#h',
  '?.md',
)
const pattern = fc
  .tuple(
    fc.constantFrom('', '', '', '!'),
    fc.constantFrom('', '', '/'),
    fc.array(glob, { minLength: 1, maxLength: 3 }),
    fc.constantFrom('', '', '/', ' '),
  )
  .map(([bang, lead, globs, tail]) => bang + lead + globs.join('/') + tail)
const ignoreFile = fc.array(pattern, { maxLength: 5 }).map((lines) => lines.join('\n'))
const world = fc.record({
  paths: fc.uniqueArray(filePath, { minLength: 1, maxLength: 12 }),
  root: ignoreFile,
  inA: ignoreFile,
  inAB: ignoreFile,
})

test('the same line of an ignore file decides as in git [F-FS-26]', () => {
  const directory = temporaryDirectory()
  git(directory, ['init', '-q'])
  git(directory, ['config', 'core.ignorecase', 'false'])
  const property = fc.property(world, ({ paths, ...texts }) => {
    const ignoreFiles = { '': texts.root, a: texts.inA, 'a/b': texts.inAB }
    const files = paths.filter(
      (path) => !paths.some((other) => other.startsWith(`${path}/`)) && path !== 'a' && path !== 'a/b',
    )
    const root = join(directory, 'w')
    rmSync(root, { recursive: true, force: true })
    for (const path of files) write(join(root, path), '')
    for (const [at, text] of Object.entries(ignoreFiles)) write(join(root, at, '.gitignore'), text)
    expect(Object.fromEntries(files.map((path) => [path, decided(path, ignoreFiles)]))).toEqual(askGit(root, files))
  })
  fc.assert(property, { numRuns: 150 })
})

/** Walks down to the path as a scan does; returns the file and line that decided. */
function decided(path: string, ignoreFiles: Readonly<Record<string, string>>): string {
  let scope: IgnoreScope = createRootScope({ ignore: [], include: [] }).enter('', () => ignoreFiles[''])
  const parts = path.split('/')
  for (let depth = 1; depth <= parts.length; depth += 1) {
    const above = parts.slice(0, depth).join('/')
    const decision = scope.decide(above, depth < parts.length)
    if (decision) return `${decision.source.replace('.shelfdignore', '.gitignore')}:${decision.line}`
    scope = scope.enter(above, () => ignoreFiles[above])
  }
  return 'kept'
}

/** `file:line` of the rule by which git ignores each path. */
function askGit(root: string, paths: readonly string[]): Record<string, string> {
  const answers = Object.fromEntries(paths.map((path) => [path, 'kept']))
  const input = paths.map((path) => `${path}\0`).join('')
  const fields = git(root, ['check-ignore', '--verbose', '--no-index', '-z', '--stdin'], input).split('\0')
  for (let at = 0; at + 3 < fields.length; at += 4) {
    const [source = '', line, pattern = '', path = ''] = fields.slice(at, at + 4)
    if (!pattern.startsWith('!')) answers[path] = `${source.replace(/^w\//, '')}:${line}`
  }
  return answers
}

function git(cwd: string, args: readonly string[], input = ''): string {
  const isolated = { ...process.env, GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_SYSTEM: '/dev/null' }
  const { status, stdout, stderr } = spawnSync('git', args, { cwd, input, encoding: 'utf8', env: isolated })
  if (status !== 0 && status !== 1) throw new Error(stderr)
  return stdout
}

function write(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
}
