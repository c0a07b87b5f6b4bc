import { relative } from 'node:path'
import type { Reporter, TestCase, TestModule } from 'vitest/node'
import { keepResults, type TestResult } from './promises/test-results.ts'
import { describeMissing } from './support/programs.ts'

/**
 * Keeps how each test ended. Ends the output of a test run with the programs that tests lacked, a line for each failed test and the
 * line `N passed, N failed`.
 */
export default class CountReporter implements Reporter {
  onTestRunEnd: NonNullable<Reporter['onTestRunEnd']> = (modules, unhandledErrors) => {
    const states = modules.flatMap((module) => [...module.children.allTests()].map((test) => test.result().state))
    const failures = [
      ...modules.flatMap(failuresOf),
      ...unhandledErrors.map((error) => failureLine('outside of every test', error)),
    ]
    keepResults(Object.fromEntries(modules.map((module) => [fileOf(module), resultsOf(module)])))
    const passed = states.filter((state) => state === 'passed').length
    const lines = [
      ...describeMissing(modules.flatMap(notesOf)),
      ...failures,
      `${passed} passed, ${failures.length} failed`,
    ]
    process.once('exit', () => process.stdout.write(`${lines.join('\n')}\n`))
  }
}

/** A line for each failed test and each error outside of one: in the file itself or in a hook. */
function failuresOf(module: TestModule): string[] {
  const outside = [module, ...module.children.allSuites()].flatMap((part) => part.errors())
  const failed = [...module.children.allTests('failed')]
  if (!module.ok() && outside.length + failed.length === 0) return [failureLine(fileOf(module), undefined)]
  return [...outside.map((error) => failureLine(fileOf(module), error)), ...failed.map(describeFailure)]
}

function describeFailure(test: TestCase): string {
  return failureLine(`${fileOf(test.module)}: ${test.fullName}`, test.result().errors?.[0])
}

function failureLine(where: string, error: { message: string } | undefined): string {
  return `failed: ${where}: ${error?.message.split('\n', 1)[0]?.slice(0, 300) ?? 'no error was given'}`
}

/** Returns why tests were left out, as far as they say so. */
function notesOf(module: TestModule): (string | undefined)[] {
  return [...module.children.allTests('skipped')].map((test) => {
    const result = test.result()
    return result.state === 'skipped' ? result.note : undefined
  })
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
