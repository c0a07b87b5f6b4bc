import { relative } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import type { Reporter, SerializedError, TestCase, TestModule } from 'vitest/node'
import { keepResults, type TestResult } from './promises/test-results.ts'
import { describeMissing } from './support/programs.ts'

/** A file of tests may take this much processor time, and this share of that of all files: a slow machine does not fail it. */
const MAX_FILE_MS = 8_000
const MAX_FILE_SHARE = 0.05
const SLOWEST = 10

interface ReporterOptions {
  /** Whether these are all tests of `npm test`, each of which must be quick. */
  readonly isQuick?: boolean
}

/**
 * Keeps how each test ended. Ends the output of a test run with what tests lacked, a line for each failed test and for each file that
 * is too slow, and the line `N passed, N failed`.
 */
export default class CountReporter implements Reporter {
  readonly #isQuick: boolean

  constructor({ isQuick = false }: ReporterOptions = {}) {
    this.#isQuick = isQuick
  }

  onTestRunEnd: NonNullable<Reporter['onTestRunEnd']> = (modules, unhandledErrors) => {
    const states = modules.flatMap((module) => [...module.children.allTests()].map((test) => test.result().state))
    const times = timesOf(modules)
    const failures = [
      ...modules.flatMap(failuresOf),
      ...unhandledErrors.map((error) => failureLine('outside of every test', error)),
      ...(this.#isQuick ? slowFiles(times) : []).map((file) =>
        failureLine(file, { message: tooSlow(times.get(file)) }),
      ),
    ]
    keepResults(Object.fromEntries(modules.map((module) => [fileOf(module), resultsOf(module)])))
    const passed = states.filter((state) => state === 'passed').length
    const lines = [
      ...describeMissing(modules.flatMap(notesOf)),
      ...(this.#isQuick ? [describeSlowest(times)] : []),
      ...failures,
      `${passed} passed, ${failures.length} failed`,
    ]
    process.once('exit', () => {
      if (failures.length > 0) process.exitCode ||= 1
      process.stdout.write(`${lines.join('\n')}\n`)
    })
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

/** Returns the files that belong into `test/slow`, by the processor time of each. */
export function slowFiles(times: ReadonlyMap<string, number>): string[] {
  const totalMs = [...times.values()].reduce((sum, ms) => sum + ms, 0)
  const maxMs = Math.max(MAX_FILE_MS, totalMs * MAX_FILE_SHARE)
  return [...times].flatMap(([file, ms]) => (ms > maxMs ? [file] : []))
}

/** The processor time of each file, the longest first. */
function timesOf(modules: readonly TestModule[]): Map<string, number> {
  const times = modules.map((module) => [fileOf(module), module.meta().processorMs ?? 0] as const)
  return new Map(times.sort(([, a], [, b]) => b - a))
}

function describeSlowest(times: ReadonlyMap<string, number>): string {
  const slowest = [...times].slice(0, SLOWEST).map(([file, ms]) => `${file} ${seconds(ms)}`)
  return `most processor time: ${slowest.join(', ')}`
}

function tooSlow(ms: number | undefined): string {
  return `it took ${seconds(ms)} of processor time, more than ${seconds(MAX_FILE_MS)}: make it quicker, or move it into test/slow`
}

function seconds(ms = 0): string {
  return `${(ms / 1_000).toFixed(1)} s`
}

function failureLine(where: string, error: SerializedError | undefined): string {
  const message = error?.message.split('\n', 1)[0] ?? 'no error was given'
  const line = error?.stacks?.find(({ file }) => file.endsWith('.test.ts'))?.line
  const place = line === undefined ? '' : ` (line ${line})`
  return `failed: ${where}: ${shorten(message)}${place}${firstDifference(error?.diff)}`
}

/** Returns the first lines that differ, because vitest shortens the objects in its message. */
function firstDifference(diff: unknown): string {
  if (typeof diff !== 'string') return ''
  const lines = stripVTControlCharacters(diff).replace('- Expected\n+ Received\n', '').split('\n')
  const firstOf = (mark: string) => lines.find((line) => line.startsWith(mark))?.trimEnd()
  return [firstOf('- '), firstOf('+ ')].map((line) => (line === undefined ? '' : `; ${shorten(line)}`)).join('')
}

/** The end says what was expected. */
function shorten(message: string): string {
  return message.length <= 300 ? message : `${message.slice(0, 100)} … ${message.slice(-200)}`
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
