import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { z } from 'zod'
import { isRunOf, type ShownBy } from './collect-tests.ts'

/** Lies in node_modules: git ignores it, and a clean installation removes it. */
const FILE = join(import.meta.dirname, '..', '..', 'node_modules', '.cache', 'shelfd', 'test-results.json')

const Result = z.object({ state: z.enum(['passed', 'failed', 'skipped']), at: z.iso.datetime() })
const Results = z.record(z.string(), z.record(z.string(), Result))

/** The result of the last run of a test. */
export type TestResult = z.infer<typeof Result>

/** By file below `test/`, then by full title. */
export type TestResults = z.infer<typeof Results>

/** The results of all tests that ran since the installation. */
export function readResults(): TestResults {
  try {
    return Results.parse(JSON.parse(readFileSync(FILE, 'utf8')))
  } catch {
    return {}
  }
}

/** Replaces the results of these files. A test that was skipped this time keeps its earlier result. */
export function keepResults(fresh: TestResults): void {
  const kept = readResults()
  for (const [file, tests] of Object.entries(fresh)) {
    const before = kept[file] ?? {}
    kept[file] = Object.fromEntries(
      Object.entries(tests).map(([title, result]) => [
        title,
        result.state === 'skipped' ? (before[title] ?? result) : result,
      ]),
    )
  }
  mkdirSync(dirname(FILE), { recursive: true })
  const part = `${FILE}.${process.pid}`
  writeFileSync(part, JSON.stringify(kept))
  renameSync(part, FILE)
}

/** How a test of the catalogue ended: the worst of its cases. `skipped`: it can't run on this machine. */
export type Outcome = 'failed' | 'not run' | 'skipped' | 'passed'

export interface TestOutcome {
  readonly file: string
  readonly title: string
  readonly outcome: Outcome
}

const WORST_FIRST = ['failed', 'passed', 'skipped'] as const

/** The tests of a row, each with its last outcome. */
export function lastOutcomes(shownBy: ShownBy, results: TestResults): TestOutcome[] {
  return Object.entries(shownBy).flatMap(([file, titles]) =>
    titles.map((title) => ({ file, title, outcome: outcomeOf(title, results[file] ?? {}) })),
  )
}

function outcomeOf(title: string, results: TestResults[string]): Outcome {
  const states = Object.entries(results).flatMap(([name, { state }]) => (isRunOf(title, name) ? [state] : []))
  return WORST_FIRST.find((state) => states.includes(state)) ?? 'not run'
}
