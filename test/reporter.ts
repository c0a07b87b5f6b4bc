import type { Reporter } from 'vitest/node'

/** Ends the output of a test run with the plain line `N passed, N failed`. */
export default class CountReporter implements Reporter {
  onTestRunEnd: NonNullable<Reporter['onTestRunEnd']> = (modules, unhandledErrors) => {
    const states = modules.flatMap((module) => [...module.children.allTests()].map((test) => test.result().state))
    const count = (wanted: string) => states.filter((state) => state === wanted).length
    // A file that does not load, a hook that fails and an error outside of every test have no failed test of their own.
    const broken = modules.filter((module) => !module.ok() && ![...module.children.allTests('failed')].length).length
    const failed = count('failed') + broken + unhandledErrors.length
    process.once('exit', () => process.stdout.write(`${count('passed')} passed, ${failed} failed\n`))
  }
}
