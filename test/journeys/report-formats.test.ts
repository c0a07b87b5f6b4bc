/** Formats of the report for other programs and readers: tables, pages and files. */
import { hash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'csv-parse/sync'
import { DomUtils, parseDocument } from 'htmlparser2'
import { describe, expect, test } from 'vitest'
import { temporaryHome } from '../support/home.ts'
import { DANGEROUS } from '../support/hostile-text.ts'

const HOSTILE = "=cmd|'x',\"<img src=x onerror=alert(1)>`|*.md"

/** A mirror with a row of most classes, one of them with a hostile name. */
async function mirroredHome() {
  const home = temporaryHome()
  const root = home.write('Papers', { 'a.md': 'one', 'b.md': 'two', 'copy/a.md': 'one', 'gone.md': 'three' })
  expect((await home.sync(['Papers'])).exitCode).toBe(0)
  rmSync(join(root, 'gone.md'))
  writeFileSync(join(root, 'b.md'), 'two, changed')
  writeFileSync(join(root, HOSTILE), 'new')
  const report = async (...args: string[]) => await home.shelfd(['report', ...args])
  const { stdout } = await report('--format', 'json')
  return { home, report, json: JSON.parse(stdout).mirrors[0] }
}

describe('csv', () => {
  test('each row of the JSON format is one record with the same values', async () => {
    const { report, json } = await mirroredHome()
    const records: Record<string, string>[] = parse((await report('--format', 'csv')).stdout, { columns: true })
    expect(records.map(({ path }) => path?.replace(/^'/, ''))).toEqual(
      json.entries.map((row: { path: string }) => row.path),
    )
    for (const [index, record] of records.entries()) {
      const { class: reportClass, size, sha256, remotePaths } = json.entries[index]
      expect(record).toMatchObject({ mirror: 'Papers', class: reportClass, size: String(size ?? ''), sha256 })
      expect(record.remotePaths).toBe(remotePaths.join(' | '))
    }
  })

  test('a name that begins like a formula is no formula in a spreadsheet', async () => {
    const { report } = await mirroredHome()
    const { stdout } = await report('--format', 'csv', '--only', 'local-only')
    const [record]: Record<string, string>[] = parse(stdout, { columns: true })
    expect(record?.path).toBe(`'${HOSTILE}`)
  })
})

describe('markdown', () => {
  test('the headline and the counts agree with the JSON format', async () => {
    const { report, json } = await mirroredHome()
    const { stdout } = await report('--format', 'markdown')
    expect(json.counts).toEqual({ 'in-sync': 2, 'local-only': 1, changed: 1, superseded: 1 })
    expect(stdout).toContain('**2 of 4 files are searchable; 2 need you.**')
    expect(stdout).toContain('| changed, not sent yet | b.md | /Papers/b.md | changed since it was uploaded |')
    expect(stdout).not.toContain('| a.md |')
  })

  test('a hostile name breaks no table and becomes no HTML', async () => {
    const { report } = await mirroredHome()
    const { stdout } = await report('--format', 'markdown', '--only', 'local-only')
    const row = stdout.split('\n').find((line) => line.includes('cmd'))
    expect(row?.replaceAll(/\\./g, '').match(/\|/g)).toHaveLength(5)
    expect(stdout).not.toContain('<img')
  })
})

describe('html', () => {
  test('the page has each row once and the count of each class', async () => {
    const { report, json } = await mirroredHome()
    const { stdout } = await report('--format', 'html')
    const page = parseDocument(stdout)
    const rows = DomUtils.getElementsByTagName('tbody', page).flatMap((body) =>
      DomUtils.getElementsByTagName('tr', body),
    )
    const classes = rows.map(({ attribs }) => attribs.class)
    expect(classes).toEqual(json.entries.map((row: { class: string }) => row.class))
    const names = rows.map((row) => DomUtils.textContent(DomUtils.getElementsByTagName('th', row)))
    expect(names).toEqual(json.entries.map((row: { path: string }) => row.path))
    const tiles = DomUtils.getElementsByTagName('label', page).map((tile) => [
      tile.attribs.class,
      DomUtils.textContent(tile),
    ])
    expect(Object.fromEntries(tiles)).toEqual({
      'needs-you': '2 need you',
      changed: '1 changed, not sent yet',
      'local-only': '1 not sent yet',
      superseded: '1 old version, still searchable',
      'in-sync': '2 searchable on both sides',
      all: '5 everything',
    })
  })

  test('the page loads nothing, and its policy allows its own style and script only', async () => {
    const { report } = await mirroredHome()
    const { stdout } = await report('--format', 'html')
    const page = parseDocument(stdout)
    const textOf = (tag: string) => DomUtils.textContent(DomUtils.getElementsByTagName(tag, page))
    const policy = DomUtils.getElementsByTagName('meta', page).find((meta) => meta.attribs['http-equiv'])
    expect(policy?.attribs.content).toContain("default-src 'none'")
    for (const tag of ['style', 'script']) {
      expect(policy?.attribs.content).toContain(`'sha256-${hash('sha256', textOf(tag), 'base64')}'`)
    }
    expect(
      DomUtils.filter((node) => 'attribs' in node && ('src' in node.attribs || 'href' in node.attribs), page),
    ).toEqual([])
  })

  test('a hostile name stays text', async () => {
    const { report } = await mirroredHome()
    const { stdout } = await report('--format', 'html')
    expect(DomUtils.getElementsByTagName('img', parseDocument(stdout))).toEqual([])
    expect(stdout.replaceAll(/[\n\t]/g, ' ')).not.toMatch(DANGEROUS)
  })
})

describe('--output', () => {
  test('the file has what stdout would get, and nothing else is left beside it', async () => {
    const { home, report } = await mirroredHome()
    const { stdout } = await report('--format', 'csv')
    const { exitCode, stdout: none, stderr } = await report('--format', 'csv', '--output', 'report.csv')
    expect({ exitCode, none }).toEqual({ exitCode: 0, none: '' })
    expect(stderr).toContain('report.csv')
    expect(readFileSync(join(home.path, 'report.csv'), 'utf8')).toBe(stdout)
    expect(readdirSync(home.path).filter((name) => name.includes('report.csv'))).toEqual(['report.csv'])
  })

  test('a report that fails leaves the older file as it was', async () => {
    const { home, report } = await mirroredHome()
    writeFileSync(join(home.path, 'report.html'), 'the older one')
    rmSync(join(home.path, 'Papers'), { recursive: true })
    const { exitCode } = await report('--format', 'html', '--output', 'report.html')
    expect(exitCode).toBe(3)
    expect(readFileSync(join(home.path, 'report.html'), 'utf8')).toBe('the older one')
  })

  test('a directory that is not there is named', async () => {
    const { home, report } = await mirroredHome()
    const { exitCode, stderr } = await report('--output', 'nowhere/report.txt')
    expect(exitCode).not.toBe(0)
    expect(stderr).toContain('nowhere/report.txt')
    expect(existsSync(join(home.path, 'nowhere'))).toBe(false)
  })
})
