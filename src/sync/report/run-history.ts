import { isoTime } from '../../foundation/text/times.ts'
import type { StoreReader } from '../../store/open-store.ts'
import { readAccount } from './stored-account.ts'

/** What a run did for one mirror. */
export interface MirrorOfHistory {
  readonly name: string
  /** Files that were uploaded, or that the library had already. */
  readonly sent: number
  readonly bytes: number
  readonly problems: number
}

/** A past run; times in ISO 8601. */
export interface PastRun {
  readonly run: number
  /** `ok`, `incomplete`, `failed`, `interrupted`, or `not finished`: the run is under way, or its process ended first. */
  readonly verdict: string
  readonly startedAt: string
  readonly finishedAt: string | null
  readonly durationMs: number | null
  /** Empty for a run that is not finished. */
  readonly mirrors: readonly MirrorOfHistory[]
}

/** Returns the newest runs, newest first; with `mirror` only those that had this mirror. */
export function readHistory(
  store: StoreReader,
  { limit, mirror }: { limit: number; mirror: string | undefined },
): PastRun[] {
  const found: PastRun[] = []
  for (const row of store.runs.iterateNewest()) {
    if (found.length === limit) break
    const mirrors = readAccount(row).map(({ name, uploads, problems }) => ({
      name,
      sent: uploads.created + uploads.duplicates,
      bytes: uploads.bytes,
      problems: problems.length,
    }))
    if (mirror !== undefined && !mirrors.some(({ name }) => name === mirror)) continue
    const { id: run, startedAt, finishedAt, verdict } = row
    found.push({
      run,
      verdict: verdict ?? 'not finished',
      startedAt: isoTime(startedAt),
      finishedAt: isoTime(finishedAt),
      durationMs: finishedAt === null ? null : Math.max(0, finishedAt - startedAt),
      mirrors,
    })
  }
  return found
}
