/** Compares what README and docs list with the program. */
import { existsSync, globSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { COMMANDS_PAGE, renderCommandsPage } from '../.ci/commands-page.ts'
import { CONFIGURATION_PAGE, renderConfigurationKeys } from '../.ci/configuration-keys.ts'
import { CONTRACT_PAGE, renderContractPage } from '../.ci/contract-page.ts'
import { ERRORS_PAGE, renderErrorsPage, shownMessages } from '../.ci/errors-page.ts'
import { PROMISES_PAGE, renderPromisesPage } from '../.ci/promises-page.ts'
import packageJson from '../package.json' with { type: 'json' }
import { configJsonSchema, configSchema } from '../src/app/settings/schema.ts'
import { commands } from '../src/cli/commands.ts'
import { REPORT_CLASSES } from '../src/rules/report-class.ts'
import { readSettingsWith } from './app/settings/read-settings-with.ts'
import { security } from './promises/security.ts'

const PROJECT = fileURLToPath(new URL('..', import.meta.url))
const WIDEST = 160

const pages = [
  'README.md',
  'CHANGELOG.md',
  'SECURITY.md',
  'CONTRIBUTING.md',
  ...globSync(['docs/**/*.md', 'test/{support,instruments}/README.md'], { cwd: PROJECT }),
]

test('the page of commands has the help of every command', async () => {
  const page = readFileSync(COMMANDS_PAGE, 'utf8')
  expect(page, 'docs/commands.md is out of date: npm run docs').toBe(await renderCommandsPage(page))
})

test('the examples of all pages run commands that exist', () => {
  const names = commands.map(({ name }) => name)
  const unknown = pages.flatMap((page) => {
    const words = [...read(page).matchAll(/^\$ shelfd (.*)$|^```\nshelfd (.*)$/gm)].map((match) => match[1] ?? match[2])
    return words.filter((word) => !names.some((name) => `${word} `.startsWith(`${name} `)))
  })
  expect(unknown).toEqual([])
})

describe('configuration', () => {
  const page = read('docs/configuration.md')

  test('the page of the configuration has every key and variable', () => {
    const current = readFileSync(CONFIGURATION_PAGE, 'utf8')
    expect(current, 'docs/configuration.md is out of date: npm run docs').toBe(renderConfigurationKeys(current))
  })

  test('every key of the configuration is explained', () => {
    const schema: unknown = JSON.parse(configJsonSchema())
    const leaves = keysOf(schema).filter((key, _, all) => !all.some((other) => other.startsWith(`${key}.`)))
    expect(leaves.filter((key) => !page.includes(`\`${key}\``))).toEqual([])
    expect(leaves.length).toBeGreaterThan(30)
  })

  test('every configuration on the pages is accepted', () => {
    const sections = Object.keys(configSchema.shape)
    const examples = pages.flatMap((each) =>
      [...read(each).matchAll(/^```yaml\n(.*?)^```$/gms)]
        .map(([, text = '']) => ({ page: each, text }))
        .filter(({ text }) => sections.some((section) => text.startsWith(`${section}:`))),
    )
    expect(examples.length).toBeGreaterThan(10)
    for (const { page: each, text } of examples) {
      const accept = () => readSettingsWith({ yaml: text, mode: 0o600 })
      expect(accept, `${each}:\n${text}`).not.toThrow()
    }
  })
})

describe('errors and the report', () => {
  test('the page of errors has every code with its advice', () => {
    const page = readFileSync(ERRORS_PAGE, 'utf8')
    expect(page, 'docs/errors.md is out of date: npm run docs').toBe(renderErrorsPage(page))
  })

  test('each message that a page explains is printed by the program', () => {
    const sources = globSync('src/**/*.{ts,tsx}', { cwd: PROJECT }).map(read).join('\n')
    const listed = pages
      .flatMap((page) => rowsOf(read(page), 'it says'))
      .flatMap(([cell = '']) => /^`(.+)`$/.exec(cell)?.[1] ?? [])
    const unknown = [...shownMessages, ...listed]
      // `…` stands for what the program fills in.
      .flatMap((message) => message.split('…').map((part) => part.trim()))
      .filter((part) => !sources.includes(part))
    expect(unknown).toEqual([])
    expect(shownMessages.length).toBeGreaterThan(20)
  })

  test('the listed classes and signs are those of the program', () => {
    const listed = rowsOf(read('docs/report.md'), 'class').map(([name, sign]) => [name, sign])
    expect(listed).toEqual(Object.entries(REPORT_CLASSES).map(([name, sign]) => [`\`${name}\``, `\`${sign}\``]))
  })
})

test('the page of promises has every row of the catalogue', () => {
  const page = readFileSync(PROMISES_PAGE, 'utf8')
  expect(page, 'docs/development/promises.md is out of date: npm run docs').toBe(renderPromisesPage(page))
})

test('the page of the contract suite has every sentence and its assertions', () => {
  const page = readFileSync(CONTRACT_PAGE, 'utf8')
  expect(page, 'docs/development/contract-suite.md is out of date: npm run docs').toBe(renderContractPage(page))
})

describe('the pages', () => {
  test('all links of the pages lead to files that exist', () => {
    const dead = pages.flatMap((page) =>
      linksOf(page)
        .filter((target) => !existsSync(join(PROJECT, target)))
        .map((target) => `${page} → ${target}`),
    )
    expect(dead).toEqual([])
  })

  test('all links of the pages lead to headings that exist', () => {
    const dead = pages.flatMap((page) =>
      [...read(page).matchAll(/\]\(([\w./-]*)#([^)\s]+)\)/g)].flatMap(([, file = '', anchor = '']) => {
        const target = file === '' ? page : join(dirname(page), file)
        return anchorsOf(target).includes(anchor) ? [] : [`${page} → ${target}#${anchor}`]
      }),
    )
    expect(dead).toEqual([])
  })

  test('no line of the pages is too wide for an editor, except in tables', () => {
    const wide = pages.flatMap((page) =>
      read(page)
        .split('\n')
        .filter((line) => line.length > WIDEST && !line.startsWith('|'))
        .map((line) => `${page}: ${line}`),
    )
    expect(wide).toEqual([])
  })

  test.each(['docs/architecture.md', 'docs/development/embedded-library.md'])('%s names files that exist', (page) => {
    const named = [...read(page).matchAll(/`([a-z-]+\/[a-z/-]+(?:\.ts|\/))`/g)].map(([, path = '']) => path)
    expect(named.length).toBeGreaterThan(15)
    const roots = ['src', '.']
    expect(named.filter((path) => !roots.some((root) => existsSync(join(PROJECT, root, path))))).toEqual([])
  })

  test.each([
    ['test/support', 'test/support/README.md'],
    ['test/instruments', 'test/instruments/README.md'],
  ])('the index of %s names everything that lies there', (folder, index) => {
    const named = new Set([...read(index).matchAll(/`([\w.-]+)\/?`/g)].map(([, name]) => name))
    const there = readdirSync(join(PROJECT, folder)).filter((name) => name !== 'README.md')
    expect(there.filter((name) => !named.has(name))).toEqual([])
  })

  test('all pages are reached from the README', () => {
    const reached = new Set(['README.md'])
    for (const page of reached) if (page.endsWith('.md')) for (const target of linksOf(page)) reached.add(target)
    expect(pages.filter((page) => !reached.has(page))).toEqual([])
  })

  test('the page on threats names each rule of security', () => {
    const page = read('docs/threat-model.md')
    expect(security.filter(({ id }) => !page.includes(id)).map(({ id }) => id)).toEqual([])
  })

  test('no decision is longer than a page', () => {
    const records = pages.filter((page) => /^docs\/decisions\/\d/.test(page))
    expect(records.filter((page) => read(page).split('\n').length > 41)).toEqual([])
    expect(records.length).toBeGreaterThan(40)
  })

  test('the decisions give a reason for every dependency [S-16]', () => {
    const decisions = pages
      .filter((page) => page.startsWith('docs/decisions/'))
      .map(read)
      .join('\n')
    const packages = Object.keys({
      ...packageJson.dependencies,
      ...packageJson.optionalDependencies,
      ...packageJson.devDependencies,
    })
    const named = (name: string) => decisions.toLowerCase().includes(name.replace('@biomejs/', '').toLowerCase())
    expect(packages.filter((name) => !named(name))).toEqual([])
  })
})

function read(page: string): string {
  return readFileSync(join(PROJECT, page), 'utf8')
}

/** The cells of all tables whose first column has this title. */
function rowsOf(page: string, title: string): string[][] {
  const tables = page.split('\n\n').filter((block) => block.startsWith(`| ${title} |`))
  const lines = tables.flatMap((table) => table.trim().split('\n').slice(2))
  return lines.map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  )
}

/** The anchors of the headings of a page, as GitHub makes them. */
function anchorsOf(page: string): string[] {
  return [...read(page).matchAll(/^#+ (.*)$/gm)].map(([, title = '']) =>
    title
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  )
}

/** Files of the project that a page links to. */
function linksOf(page: string): string[] {
  const targets = [...read(page).matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = '']) => target.split('#')[0] ?? '')
  return targets.filter((target) => target !== '' && !target.includes(':')).map((target) => join(dirname(page), target))
}

/** `limits.transfers`, and for entries of `mirrors` the bare key. */
function keysOf(schema: unknown, prefix = ''): string[] {
  if (typeof schema !== 'object' || schema === null) return []
  const properties = 'properties' in schema && typeof schema.properties === 'object' ? (schema.properties ?? {}) : {}
  const below = Object.entries(properties).flatMap(([key, inner]) => {
    const path = prefix === '' ? key : `${prefix}.${key}`
    if (path === 'mirrors' && typeof inner === 'object' && inner !== null && 'items' in inner)
      return keysOf(inner.items)
    return [path, ...keysOf(inner, path)]
  })
  return below
}
