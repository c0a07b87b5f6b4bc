import { describeClaims } from './sentences/claims.ts'
import { describeEnds } from './sentences/ends.ts'
import { describeFollowUps } from './sentences/follow-ups.ts'
import { describeLimits } from './sentences/limits.ts'
import { describeLostCommits } from './sentences/lost-commits.ts'
import { describePublished } from './sentences/published.ts'
import { describeRefusals } from './sentences/refusals.ts'
import { describeSessions } from './sentences/sessions.ts'
import { describeTakeOver } from './sentences/take-over.ts'
import type { LedgerUnderTest } from './test-host.ts'

/** The sentences that hold for every ledger. `ledger` is called in each test. */
export function describeLedger(ledger: () => LedgerUnderTest): void {
  describeSessions(ledger)
  describeClaims(ledger)
  describeTakeOver(ledger)
  describeEnds(ledger)
  describeRefusals(ledger)
  describeFollowUps(ledger)
  describeLimits(ledger)
  describeLostCommits(ledger)
  describePublished(ledger)
}
