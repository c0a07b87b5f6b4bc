/** The manual that comes with the package. */
import { spawnSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { renderManPages } from '../../../.ci/man/man-pages.ts'
import packageJson from '../../../package.json' with { type: 'json' }
import { OVERRIDES, settingFlags, variableOf } from '../../../src/app/settings/overrides.ts'
import { configJsonSchema } from '../../../src/app/settings/schema.ts'
import { nameOf } from '../../../src/cli/command.ts'
import { commands } from '../../../src/cli/commands.ts'
import { EXIT_CODES } from '../../../src/cli/exit-codes.ts'
import { GLOBAL_OPTIONS, optionsOf } from '../../../src/cli/global-options.ts'
import { needs } from '../../support/needs.ts'
import { findProgram } from '../../support/programs.ts'

const pages = await renderManPages()
/** Lines long enough, and without bold or italic letters. */
const groff = ['-k', '-man', '-Tutf8', '-rLL=200n', '-P-c', '-P-b', '-P-u']
const env = { ...process.env, LC_ALL: 'C.UTF-8' }
const shown = findProgram('groff') ? showPages() : new Map<string, string>()

test('the package names each page of the manual', () => {
  expect(packageJson.man).toEqual(pages.map(({ name }) => `dist/man/${name}`))
})

test('the manual describes each command with its arguments and flags', async () => {
  needs('groff')
  for (const { name, load } of commands) {
    const command = await load()
    const text = shown.get(`shelfd-${name.split(' ')[0]}.1`)
    const flags = Object.entries(optionsOf(command)).flatMap(([flag, { describe }]) => [`--${flag}`, describe])
    const words = Object.entries(command.positionals).map(([word, spec]) => nameOf(word, spec))
    const examples = command.examples.flatMap(([line, meaning]) => [`shelfd ${line}`, meaning])
    const exits = command.exits.map((exit) => EXIT_CODES[exit].meaning)
    for (const part of [`shelfd ${name}`, ...words, ...flags, ...examples, ...exits]) {
      expect(text, `${part} (${name})`).toContain(plain(part))
    }
  }
})

test('the first page of the manual has all commands, variables and exit codes', () => {
  needs('groff')
  const text = shown.get('shelfd.1') ?? ''
  const listed = [
    ...commands.flatMap(({ name, summary }) => [name, summary]),
    ...Object.entries(GLOBAL_OPTIONS).flatMap(([flag, { describe }]) => [`--${flag}`, describe]),
    ...settingFlags.flatMap((flag) => [variableOf(flag), OVERRIDES[flag].describe]),
    ...Object.values(EXIT_CODES).map(({ meaning }) => meaning),
  ]
  expect(listed.filter((part) => !text.includes(plain(part)))).toEqual([])
})

test('the manual shows each key of the configuration with its default', () => {
  needs('groff')
  const text = shown.get('shelfd-config.5') ?? ''
  expect(keysOf(configJsonSchema()).filter((key) => !text.toLowerCase().includes(`${key.toLowerCase()} `))).toEqual([])
  expect(text).toMatch(/limits\.transfers +Uploads or library listings at a time .* Default: 4\. /)
  expect(text).toMatch(/mirrors\.watcher .*One of auto, poll\. Default: auto\. /)
  expect(text).toMatch(/notify\.webhooks\.url +Where messages are posted; /)
  expect(text).toMatch(/embedder\.keyFile /)
})

/** Each page as a reader sees it, by its name; any run of blanks and ends of lines is one blank. Fails on a warning of groff. */
function showPages(): ReadonlyMap<string, string> {
  const input = pages.map(({ text }) => text).join('')
  const { stdout, stderr } = spawnSync('groff', ['-ww', ...groff], { input, env, encoding: 'utf8' })
  expect(stderr).toBe('')
  const [, ...shown] = plain(stdout).split(/ NAME (?=shelfd)/)
  return new Map(pages.map(({ name }, index) => [name, shown[index] ?? '']))
}

/** Names of keys, however deep. */
function keysOf(schema: string): readonly string[] {
  const keys = new Set<string>()
  JSON.parse(schema, (name, value) => {
    if (name === 'properties') for (const key of Object.keys(value)) keys.add(key)
    return value
  })
  return [...keys]
}

function plain(text: string): string {
  return text.replace(/\s+/g, ' ')
}
