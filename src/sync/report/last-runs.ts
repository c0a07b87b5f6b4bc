import { isoTime } from '../../foundation/text/times.ts'
import type { StoreReader } from '../../store/open-store.ts'
import type { RunRow } from '../../store/tables/runs.ts'
import { readAccount, type StoredMirror } from './stored-account.ts'

/** The newest run that concerns a mirror; times in ISO 8601. */
export interface LastRun {
  readonly run: number
  /** `ok`, `incomplete`, `failed`, `interrupted` or `not finished`. */
  readonly verdict: string
  readonly startedAt: string
  readonly finishedAt: string | null
  /** The error that stopped the run or the pass of this mirror. */
  readonly failure: { readonly code: string; readonly message: string } | null
}

/** The newest runs that are searched for each mirror. */
const NEWEST = 50

/** A mirror that a run names; the store may not know it, if the run failed early. */
export interface MirrorOfRun {
  readonly name: string
  readonly path: string
  readonly lastRun: LastRun
}

/** Returns the newest run of each mirror, by name, among the last runs. */
export function readLastRuns(store: StoreReader): ReadonlyMap<string, MirrorOfRun> {
  const found = new Map<string, MirrorOfRun>()
  for (const row of store.runs.listNewest(NEWEST)) {
    for (const mirror of readAccount(row)) {
      if (found.has(mirror.name)) continue
      const { name, path } = mirror
      found.set(name, { name, path, lastRun: lastRunOf(row, mirror) })
    }
  }
  return found
}

/** Describes a run. `mirror` is the run's account of the mirror, which an unfinished run does not have. */
export function lastRunOf(row: RunRow, mirror?: StoredMirror): LastRun {
  const failure = mirror?.problems.find(({ path }) => path === '')
  return {
    run: row.id,
    verdict: row.verdict ?? 'not finished',
    startedAt: isoTime(row.startedAt),
    finishedAt: isoTime(row.finishedAt),
    failure: failure ? { code: failure.code, message: failure.message } : null,
  }
}
