/** `npm run promises [-- [--run] [ID …]]`: each promise, fault and rule of security with its tests and their last outcomes. */
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { CATALOGUE, type CatalogueRow } from './catalogue.ts'
import { withoutTag } from './collect-tests.ts'
import { lastOutcomes, readResults, type TestOutcome } from './test-results.ts'

const SIGNS = { passed: '✓', failed: '✗', skipped: '-', 'not run': '?' } as const
const VITEST = join(import.meta.dirname, '..', '..', 'node_modules', 'vitest', 'vitest.mjs')

const { values, positionals } = parseArgs({ options: { run: { type: 'boolean' } }, allowPositionals: true })
const sections = CATALOGUE.map(({ title, rows }) => ({ title, rows: rows.filter(isWanted) }))
const wanted = sections.flatMap(({ rows }) => rows)
const unknown = positionals.filter((id) => !wanted.some((row) => row.id === id))
if (unknown.length > 0) throw new Error(`No row of the catalogue is called ${unknown.join(', ')}`)
if (values.run) runTests(wanted)

const results = readResults()
const outcomesOfRows = new Map(wanted.map((row) => [row.id, lastOutcomes(row.shownBy, results)]))
for (const { title, rows } of sections) {
  if (rows.length > 0) print(`\n${title}`)
  for (const row of rows) printRow(row)
}
print(`\n${summarize()}`)
const isOpen = wanted.some((row) => row.open !== undefined || testsOf(row).length === 0)
if (isOpen || [...outcomesOfRows.values()].flat().some(({ outcome }) => outcome === 'failed')) process.exitCode = 1

function isWanted({ id }: CatalogueRow): boolean {
  return positionals.length === 0 || positionals.includes(id)
}

function testsOf({ id }: CatalogueRow): readonly TestOutcome[] {
  return outcomesOfRows.get(id) ?? []
}

function printRow(row: CatalogueRow): void {
  print(`\n${row.id}  ${row.says}`)
  for (const { file, title, outcome } of testsOf(row)) {
    const suffix = outcome === 'passed' ? '' : ` (${outcome})`
    print(`  ${SIGNS[outcome]} ${file}: ${withoutTag(title)}${suffix}`)
  }
  if (row.open !== undefined) print(`  open: ${row.open}`)
}

function summarize(): string {
  const tests = new Map(
    [...outcomesOfRows.values()].flat().map((test) => [`${test.file}: ${test.title}`, test.outcome]),
  )
  const outcomes = [...tests.values()]
  const count = (outcome: string) => outcomes.filter((other) => other === outcome).length
  const open = wanted.filter((row) => row.open !== undefined || testsOf(row).length === 0)
  const openIds = open.length === 0 ? '' : ` (${open.map(({ id }) => id).join(', ')})`
  const byOutcome = ['passed', 'failed', 'skipped', 'not run'].map((outcome) => `${count(outcome)} ${outcome}`)
  return `${wanted.length} rows, ${open.length} open${openIds}; ${tests.size} tests: ${byOutcome.join(', ')}`
}

function runTests(rows: readonly CatalogueRow[]): void {
  const files = new Set(rows.flatMap(({ shownBy }) => Object.keys(shownBy)))
  spawnSync(process.execPath, [VITEST, 'run', ...[...files].map((file) => join('test', file))], { stdio: 'inherit' })
}

function print(line: string): void {
  process.stdout.write(`${line}\n`)
}
