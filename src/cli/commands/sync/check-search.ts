import type { Runner } from '../../../app/open-runner.ts'
import { counted } from '../../../foundation/text/safe-text.ts'
import { runOutcome, verdictOf } from '../../../rules/verdict.ts'
import type { RunResult } from '../../../sync/run/run-sync.ts'
import { verifySearch } from '../../../sync/search/verify-search.ts'
import type { CommandContext } from '../../context.ts'

/** Searches for new documents of the run; what a search does not find becomes a problem of the returned result. */
export async function checkSearch({ announce }: CommandContext, runner: Runner, result: RunResult): Promise<RunResult> {
  const { summary } = result
  let tried = 0
  let missed = 0
  const mirrors = []
  for (const mirror of summary.mirrors) {
    const check = await verifySearch(runner.reportContext(), mirror.name, summary.run)
    tried += check.tried
    missed += check.problems.length
    mirrors.push({ ...mirror, problems: [...mirror.problems, ...check.problems] })
  }
  if (tried === 0) announce('No new text document to search for.')
  else announce(`A search found ${tried - missed} of ${counted(tried, 'new text document')} by a phrase from it.`)
  if (missed === 0) return result
  const outcome = runOutcome(mirrors, true)
  return { ...result, outcome, summary: { ...summary, verdict: verdictOf(outcome), mirrors } }
}
