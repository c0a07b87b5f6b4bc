import type { ShelfdError } from '../../foundation/errors.ts'
import { standsInTheWay } from '../../rules/doubts.ts'
import type { Look } from './remote-bytes.ts'

/** After so many candidates that cannot be compared, a search ends: the client has already retried each of them. */
const MOST_FAILURES = 8

interface Search<Candidate> {
  /** The likeliest candidate first. */
  readonly candidates: Iterable<Candidate>
  readonly compare: (candidate: Candidate) => Promise<Look<boolean>>
  /** How many uploads of the content ended in doubt. */
  readonly doubts: number
}

/** Returns the candidate that is the content, if there is one; a failure if one that cannot be compared might be it. */
export async function findSame<Candidate>({
  candidates,
  compare,
  doubts,
}: Search<Candidate>): Promise<Look<Candidate | undefined>> {
  const failures: ShelfdError[] = []
  for (const candidate of candidates) {
    const look = await compare(candidate)
    if ('seen' in look) {
      if (look.seen) return { seen: candidate }
    } else if (standsInTheWay(look.failure, doubts)) failures.push(look.failure)
    if (failures.length === MOST_FAILURES) break
  }
  const [failure] = failures
  return failure ? { failure } : { seen: undefined }
}
