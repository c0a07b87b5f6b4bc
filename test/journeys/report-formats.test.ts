/** Formats of the report for other programs and readers: tables, pages and files. */
import { hash } from 'node:crypto'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { parse } from 'csv-parse/sync'
import { DomUtils, parseDocument } from 'htmlparser2'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { homeIn, temporaryHome } from '../support/home.ts'
import { DANGEROUS } from '../support/hostile-text.ts'

const HOSTILE = "=cmd|'x',\"<img src=x onerror=alert(1)>`|*.md"

/** A mirror with a row of most classes, one of them with a hostile name. */
async function mirroredHome(home = temporaryHome()) {
  const root = home.write('Papers', { 'a.md': 'one', 'b.md': 'two', 'copy/a.md': 'one', 'gone.md': 'three' })
  expect((await home.sync(['Papers'])).exitCode).toBe(0)
  rmSync(join(root, 'gone.md'))
  writeFileSync(join(root, 'b.md'), 'two, changed')
  writeFileSync(join(root, HOSTILE), 'new')
  const report = async (...args: string[]) => await home.shelfd(['report', ...args])
  return { home, report }
}

/** One for all tests that only read it, with its reports by format. */
const place = mkdtempSync(join(tmpdir(), 'shelfd-formats-'))
afterAll(() => rmSync(place, { recursive: true }))
let report: Awaited<ReturnType<typeof mirroredHome>>['report']
let json: { readonly entries: readonly Row[]; readonly counts: unknown }
let page: string
beforeAll(async () => {
  report = (await mirroredHome(homeIn(place))).report
  json = JSON.parse((await report('--format', 'json')).stdout).mirrors[0]
  page = (await report('--format', 'html')).stdout
})

interface Row {
  readonly path: string
  readonly class: string
  readonly size: number | null
  readonly sha256: string
  readonly remotePaths: readonly string[]
}

describe('csv', () => {
  test('each row of the JSON format is one record with the same values', async () => {
    const records: Record<string, string>[] = parse((await report('--format', 'csv')).stdout, { columns: true })
    expect(records.map(({ path }) => path?.replace(/^'/, ''))).toEqual(json.entries.map(({ path }) => path))
    for (const [index, record] of records.entries()) {
      const { class: reportClass, size, sha256, remotePaths } = json.entries[index] ?? expect.fail('no such row')
      expect(record).toMatchObject({ mirror: 'Papers', class: reportClass, size: String(size ?? ''), sha256 })
      expect(record.remotePaths).toBe(remotePaths.join(' | '))
    }
  })

  test('a name that begins like a formula is no formula in a spreadsheet', async () => {
    const { stdout } = await report('--format', 'csv', '--only', 'local-only')
    const [record]: Record<string, string>[] = parse(stdout, { columns: true })
    expect(record?.path).toBe(`'${HOSTILE}`)
  })
})

describe('markdown', () => {
  test('the headline and the counts agree with the JSON format', async () => {
    const { stdout } = await report('--format', 'markdown')
    expect(json.counts).toEqual({ 'in-sync': 2, 'local-only': 1, changed: 1, superseded: 1 })
    expect(stdout).toContain('**2 of 4 files are searchable; 2 need you.**')
    expect(stdout).toContain('| changed, not sent yet | b.md | /Papers/b.md | changed since it was uploaded |')
    expect(stdout).not.toContain('| a.md |')
  })

  test('a hostile name breaks no table and becomes no HTML', async () => {
    const { stdout } = await report('--format', 'markdown', '--only', 'local-only')
    const row = stdout.split('\n').find((line) => line.includes('cmd'))
    expect(row?.replaceAll(/\\./g, '').match(/\|/g)).toHaveLength(5)
    expect(stdout).not.toContain('<img')
  })
})

describe('html', () => {
  test('the page has each row once and the count of each class', async () => {
    const document = parseDocument(page)
    const rows = DomUtils.getElementsByTagName('tbody', document).flatMap((body) =>
      DomUtils.getElementsByTagName('tr', body),
    )
    const classes = rows.map(({ attribs }) => attribs.class)
    expect(classes).toEqual(json.entries.map((row) => (row.class === 'superseded' ? 'gone' : row.class)))
    const names = rows.map((row) => DomUtils.textContent(DomUtils.getElementsByTagName('th', row)))
    expect(names).toEqual(json.entries.map(({ path }) => path))
    const tiles = DomUtils.getElementsByTagName('label', document).map((tile) => [
      tile.attribs.class,
      DomUtils.textContent(tile),
    ])
    expect(Object.fromEntries(tiles)).toEqual({
      'needs-you': '2 need you',
      changed: '1 changed, not sent yet',
      'local-only': '1 not sent yet',
      gone: '1 gone, still in the library',
      'in-sync': '2 searchable on both sides',
      all: '5 everything',
    })
  })

  test('the page says that one file needs you', async () => {
    const { stdout } = await report('--format', 'html', '--only', 'changed')
    expect(stdout).toContain('<b>1</b> needs you')
  })

  test('the page says of which computer it is, and where each mirror goes', () => {
    const words = DomUtils.textContent(parseDocument(page).children).replaceAll(/\s+/g, ' ')
    expect(words).toContain(`shelfd report of ${hostname()}, `)
    expect(words).toMatch(/Papers ↔ Papers:\/Papers · the library on this computer \(embedded:/)
  })

  test('the page loads nothing, and its policy allows its own style and script only', async () => {
    const document = parseDocument(page)
    const textOf = (tag: string) => DomUtils.textContent(DomUtils.getElementsByTagName(tag, document))
    const policy = DomUtils.getElementsByTagName('meta', document).find((meta) => meta.attribs['http-equiv'])
    expect(policy?.attribs.content).toContain("default-src 'none'")
    for (const tag of ['style', 'script']) {
      expect(policy?.attribs.content).toContain(`'sha256-${hash('sha256', textOf(tag), 'base64')}'`)
    }
    expect(
      DomUtils.filter((node) => 'attribs' in node && ('src' in node.attribs || 'href' in node.attribs), document),
    ).toEqual([])
  })

  test('a hostile name stays text', async () => {
    expect(DomUtils.getElementsByTagName('img', parseDocument(page))).toEqual([])
    expect(page.replaceAll(/[\n\t]/g, ' ')).not.toMatch(DANGEROUS)
  })
})

describe('--output', () => {
  test('the file has what stdout would get, and nothing else is left beside it', async () => {
    const { stdout } = await report('--format', 'csv')
    const { exitCode, stdout: none, stderr } = await report('--format', 'csv', '--output', 'report.csv')
    expect({ exitCode, none }).toEqual({ exitCode: 0, none: '' })
    expect(stderr).toContain('report.csv')
    expect(readFileSync(join(place, 'report.csv'), 'utf8')).toBe(stdout)
    expect(readdirSync(place).filter((name) => name.includes('report.csv'))).toEqual(['report.csv'])
  })

  test('a report that fails leaves the older file as it was', async () => {
    const { home, report: reportOf } = await mirroredHome()
    writeFileSync(join(home.path, 'report.html'), 'the older one')
    rmSync(join(home.path, 'Papers'), { recursive: true })
    const { exitCode } = await reportOf('--format', 'html', '--output', 'report.html')
    expect(exitCode).toBe(3)
    expect(readFileSync(join(home.path, 'report.html'), 'utf8')).toBe('the older one')
  })

  test('a directory that is not there is named', async () => {
    const { exitCode, stderr } = await report('--output', 'nowhere/report.txt')
    expect(exitCode).not.toBe(0)
    expect(stderr).toContain('nowhere/report.txt')
    expect(existsSync(join(place, 'nowhere'))).toBe(false)
  })
})
