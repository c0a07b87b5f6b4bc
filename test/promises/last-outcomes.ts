import { isRunOf } from './collect-tests.ts'
import type { ShownBy } from './rows.ts'
import type { TestResults } from './test-results.ts'

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
