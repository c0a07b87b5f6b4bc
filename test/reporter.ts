import { relative } from 'node:path'
import type { Reporter, TestModule } from 'vitest/node'
import { keepResults, type TestResult } from './promises/test-results.ts'

/** Keeps how each test ended, and ends the output of a test run with the plain line `N passed, N failed`. */
export default class CountReporter implements Reporter {
  onTestRunEnd: NonNullable<Reporter['onTestRunEnd']> = (modules, unhandledErrors) => {
    const states = modules.flatMap((module) => [...module.children.allTests()].map((test) => test.result().state))
    const count = (wanted: string) => states.filter((state) => state === wanted).length
    // A file that does not load, a hook that fails and an error outside of every test have no failed test of their own.
    const broken = modules.filter((module) => !module.ok() && ![...module.children.allTests('failed')].length).length
    const failed = count('failed') + broken + unhandledErrors.length
    keepResults(Object.fromEntries(modules.map((module) => [fileOf(module), resultsOf(module)])))
    process.once('exit', () => process.stdout.write(`${count('passed')} passed, ${failed} failed\n`))
  }
}

function fileOf({ moduleId }: TestModule): string {
  return relative(import.meta.dirname, moduleId).replaceAll('\\', '/')
}

function resultsOf(module: TestModule): Record<string, TestResult> {
  const at = new Date().toISOString()
  const results = [...module.children.allTests()].map((test): [string, TestResult] => {
    const { state } = test.result()
    return [test.fullName, { state: state === 'pending' ? 'skipped' : state, at }]
  })
  return Object.fromEntries(results)
}
