import { groupDigits } from '../../foundation/text/safe-text.ts'
import { type Finding, ok, warning } from './finding.ts'

/** The watches of inotify that this user's programs have, and may have. */
export interface WatchUse {
  readonly used: number
  readonly limit: number
}

/** Directories of the watched mirrors, which take one watch each. */
export interface WatchNeed {
  readonly directories: number
  /** A daemon runs, so that its watches count as used already. */
  readonly isWatching: boolean
}

const LEAST_PROPOSED = 524_288
const NEARLY_ALL = 0.9

/** The limit to propose in place of `limit`. */
export function proposedWatches(limit: number, directories = 0): number {
  return Math.max(limit * 2, directories * 2, LEAST_PROPOSED)
}

/** Without enough watches the daemon scans instead, so that changes are found late but not lost. */
export function assessWatches({ used, limit }: WatchUse, { directories, isWatching }: WatchNeed): Finding {
  const text = `${groupDigits(used)} of ${groupDigits(limit)} used`
  const wanted = used + (isWatching ? 0 : directories)
  if (wanted <= limit * NEARLY_ALL) return ok(text)
  const need = isWatching ? '' : `, and the mirrors need ${groupDigits(directories)}`
  const remedy = `sudo sysctl fs.inotify.max_user_watches=${proposedWatches(limit, directories)}`
  return warning(`${text}${need}: what is not watched is scanned instead`, remedy)
}
