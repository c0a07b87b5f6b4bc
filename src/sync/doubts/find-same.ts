import type { ShelfdError } from '../../foundation/errors.ts'
import { standsInTheWay } from '../../rules/doubt.ts'
import type { Look } from './remote-bytes.ts'

/** So many that cannot be compared end a search: the service was asked for each again and again. */
const MOST_FAILURES = 8

interface Search<Candidate> {
  /** The likeliest first. */
  readonly candidates: Iterable<Candidate>
  readonly compare: (candidate: Candidate) => Promise<Look<boolean>>
  /** Uploads of the content that ended in doubt. */
  readonly doubts: number
}

/** The candidate that is the content, if one is; the failure when one that cannot be compared might be it. */
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
