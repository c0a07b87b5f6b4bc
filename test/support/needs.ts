import { beforeEach, TestRunner } from 'vitest'
import { missingOf, noteOf, type Program } from './programs.ts'

/** `.ci/run` sets it: a test whose program is missing fails. */
const MUST_RUN_ALL = process.env.SHELFD_RUN_ALL_TESTS === '1'

/**
 * Leaves the running test out when a program is missing, visibly: the end of the run names the program. Called in a file or in
 * `describe` and before any hook, it does so for each test there and returns whether all programs are there, for hooks that use them.
 */
export function needs(...programs: readonly Program[]): boolean {
  const missing = missingOf(programs)
  if (missing.length === 0) return true
  const note = noteOf(missing)
  const test = TestRunner.getCurrentTest()
  const leaveOut = (skip: (note: string) => never) => {
    if (MUST_RUN_ALL) throw new Error(`${note}, and SHELFD_RUN_ALL_TESTS is set`)
    skip(note)
  }
  if (test) leaveOut(test.context.skip)
  else beforeEach(({ skip }) => leaveOut(skip))
  return false
}
