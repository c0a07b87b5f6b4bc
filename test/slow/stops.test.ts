/** The real program, stopped wherever it can be; `npm run kills -- --terms 500` does the same more often. */
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { runTerms } from '../instruments/kills/terms.ts'
import { needs } from '../support/needs.ts'
import { MAIN } from '../support/run-shelfd.ts'
import { temporaryDirectory } from '../support/temporary.ts'

const STOPS = 12

test.runIf(process.platform === 'linux')(
  'a process that is asked to stop at any moment ends in order [F-PR-01, F-PR-02, F-PR-19]',
  async () => {
    needs('gcc')
    const at = join(temporaryDirectory(), 'stops')
    const { stops, complaints } = await runTerms({ count: STOPS, atOnce: 4, seed: 1, at, program: MAIN })
    // As text, so that a failed run says what ended badly.
    expect(complaints.join('\n\n')).toBe('')
    expect(stops).toBe(STOPS)
  },
  300_000,
)
