/** What the program answers to a shell at TAB, without a shell. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { commands } from '../../src/cli/commands.ts'
import { createHome } from './run-with.ts'

const { home, shelfd } = createHome()
const config = join(home, 'shelfd.yaml')
writeFileSync(config, 'mirrors: [{ name: papers, path: ~/P }, { name: "a:b", path: ~/Q }, { path: ~/Notes }]\n')

/** The lines for words behind `shelfd`, the last of which is not complete. */
async function offersFor(words: readonly string[], env: Record<string, string> = {}): Promise<readonly string[]> {
  const request = ['--get-completions', 'shelfd', ...words]
  const { exitCode, stdout, stderr } = await shelfd(request, {
    env: { SHELL: '/bin/bash', SHELFD_CONFIG: config, ...env },
  })
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' })
  return stdout.split('\n').slice(0, -1)
}

test('completion offers commands, groups and what is in a group', async () => {
  const first = new Set(commands.map(({ name }) => name.split(' ')[0]))
  expect(await offersFor([''])).toEqual([...first])
  expect(await offersFor(['config', ''])).toEqual(['show', 'check', 'get', 'set', 'unset', 'path', 'schema'])
  expect(await offersFor(['failed', ''])).toEqual(['list', 'show', 'retry', 'ignore'])
  expect(await offersFor(['failed', '--a'])).toEqual(['--all'])
  expect(await offersFor(['--json', 'serve', 'tokens', ''])).toEqual(['create', 'list', 'revoke'])
})

test('completion offers the long flags of a command, each once', async () => {
  const flags = await offersFor(['sync', '--'])
  expect(flags).toEqual(expect.arrayContaining(['--dry-run', '--no-wait', '--to', '--transfers', '--json']))
  expect(flags.filter((flag) => flag.length < 4)).toEqual([])
  expect(await offersFor(['sync', '--dry-run', '--'])).not.toContain('--dry-run')
  expect(await offersFor(['status', '--w'])).toContain('--watch')
})

test('completion offers the values of a flag that has a choice', async () => {
  expect(await offersFor(['report', '--format', ''])).toEqual(['text', 'combined', 'json', 'csv', 'html', 'markdown'])
  expect(await offersFor(['report', '--format', 'j'])).toEqual(['json'])
  expect(await offersFor(['completion', ''])).toEqual(['bash', 'zsh', 'fish'])
})

test('completion offers the mirrors of the configuration where one is named', async () => {
  for (const command of [['sync'], ['report', '-q'], ['pause', 'papers'], ['mirrors', 'show']]) {
    expect(await offersFor([...command, ''])).toEqual(['papers', 'a:b', 'Notes'])
  }
  expect(await offersFor(['sync', 'No'])).toEqual(['Notes'])
  expect(await offersFor(['mirrors', 'show', 'papers', ''])).toEqual([])
  expect(await offersFor(['whoami', ''])).toEqual([])
})

test('completion offers the libraries of the configuration and of past runs', async () => {
  writeFileSync(join(home, 'libraries.yaml'), 'mirrors: [{ path: ~/P, library: Research }, { path: ~/Q }]\n')
  mkdirSync(join(home, 'Drafts'))
  writeFileSync(join(home, 'Drafts', 'a.md'), 'A')
  const env = { SHELFD_CONFIG: join(home, 'libraries.yaml') }
  expect((await shelfd(['libraries', 'create', 'Thesis'])).exitCode).toBe(0)
  expect(await shelfd(['sync', 'Drafts', '--to', 'Thesis', '-q'])).toMatchObject({ exitCode: 0 })
  for (const words of [['sync', 'Drafts', '--to'], ['search', 'tide', '--library'], ['libraries', 'show'], ['ls']]) {
    expect(await offersFor([...words, ''], env)).toEqual(['Research', 'Thesis'])
  }
  expect(await offersFor(['ls', 'Th'], env)).toEqual(['Thesis'])
})

test('completion reads the configuration that the line names', async () => {
  const other = join(home, 'other.yaml')
  writeFileSync(other, 'mirrors: [{ name: elsewhere, path: ~/E }]\n')
  expect(await offersFor(['sync', '--config', other, ''])).toEqual(['elsewhere'])
})

test('completion leaves files to the shell', async () => {
  for (const words of [
    ['sync', '--config', ''],
    ['why', ''],
    ['sync', '--', ''],
    ['sync', '--', '--d'],
    ['nonsense', ''],
  ]) {
    expect({ words, offers: await offersFor(words) }).toEqual({ words, offers: [] })
  }
})

test('completion offers nothing from a configuration it cannot read', async () => {
  const broken = join(home, 'broken.yaml')
  for (const text of ['mirrors: [', 'mirrors: 3', 'mirrors: [3, { path: 7 }]']) {
    writeFileSync(broken, text)
    expect(await offersFor(['sync', ''], { SHELFD_CONFIG: broken })).toEqual([])
  }
  expect(await offersFor(['sync', ''], { SHELFD_CONFIG: home })).toEqual([])
})

test('completion adds descriptions where the shell shows them', async () => {
  const offers = await Promise.all(['zsh', 'fish'].map((shell) => offersFor(['stat'], { SHELL: shell })))
  expect(offers[0]).toContain('status:Show what happens now')
  expect(offers[1]).toContain('status\tShow what happens now')
  expect(await offersFor(['sync', 'a'], { SHELL: 'zsh' })).toEqual(['a\\:b'])
})
