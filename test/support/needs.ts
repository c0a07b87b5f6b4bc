import { beforeEach, TestRunner } from 'vitest'
import { missingOf, type Need, noteOf } from './programs.ts'

/** `.ci/run` sets it: a test that lacks something fails. */
const MUST_RUN_ALL = process.env.SHELFD_RUN_ALL_TESTS === '1'

/**
 * Leaves the running test out when a program or an ability is missing, visibly: the end of the run names it. Called in a file or in
 * `describe` and before any hook, it does so for each test there and returns whether all is there, for hooks that use it.
 */
export function needs(...wanted: readonly Need[]): boolean {
  const missing = missingOf(wanted)
  if (missing.length === 0) return true
  const note = noteOf(missing)
  // What only another user can show is run by the user of the bare machine.
  const isError = MUST_RUN_ALL && missing.some((need) => need !== 'no-root')
  const test = TestRunner.getCurrentTest()
  const leaveOut = (skip: (note: string) => never) => {
    if (isError) throw new Error(`${note}, and SHELFD_RUN_ALL_TESTS is set`)
    skip(note)
  }
  if (test) leaveOut(test.context.skip)
  else beforeEach(({ skip }) => leaveOut(skip))
  return false
}
