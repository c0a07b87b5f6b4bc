import { AssertionError } from 'node:assert/strict'
import { messageOf } from '../../../src/foundation/errors.ts'
import type { Examination } from './examination.ts'
import { type Assertion, NotObserved, type Sentence } from './sentence.ts'

export interface Finding {
  readonly sentence: Sentence
  readonly assertion: Assertion
  readonly result: 'passed' | 'failed' | 'not observed'
  /** Why it failed or was not observed. */
  readonly reason: string | undefined
}

/** Runs the assertions in their order, one at a time, and yields each finding at once. */
export async function* runSuite(sentences: readonly Sentence[], it: Examination): AsyncGenerator<Finding> {
  for (const sentence of sentences) {
    for (const assertion of sentence.assertions) yield { sentence, assertion, ...(await observe(assertion, it)) }
  }
}

async function observe(assertion: Assertion, it: Examination): Promise<Pick<Finding, 'result' | 'reason'>> {
  try {
    await assertion.check(it)
    return { result: 'passed', reason: undefined }
  } catch (error) {
    if (error instanceof NotObserved) return { result: 'not observed', reason: error.message }
    const isVerdict = error instanceof AssertionError
    return { result: 'failed', reason: isVerdict ? error.message : `it could not be asked: ${messageOf(error)}` }
  }
}
