import type { StoreReader } from '../../store/open-store.ts'
import type { RunRow } from '../../store/runs.ts'
import { readAccount, type StoredMirror } from './stored-account.ts'

/** The newest run that had to do with a mirror; times in ISO 8601. */
export interface LastRun {
  readonly run: number
  /** `ok`, `incomplete`, `failed`, `interrupted` or `not finished`. */
  readonly verdict: string
  readonly startedAt: string
  readonly finishedAt: string | null
  /** What stopped the run, or kept it from this mirror. */
  readonly failure: { readonly code: string; readonly message: string } | null
}

/** Runs that are looked through for a mirror. */
const NEWEST = 50

/** A mirror that a run named: it may have failed before the store knew the mirror at all. */
export interface MirrorOfRun {
  readonly name: string
  readonly path: string
  readonly lastRun: LastRun
}

/** The newest of the last runs for each mirror that they name. */
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

/** A run as it is told; without `mirror` it has no account, since it is not finished. */
export function lastRunOf(row: RunRow, mirror?: StoredMirror): LastRun {
  const failure = mirror?.problems.find(({ path }) => path === '')
  return {
    run: row.id,
    verdict: row.verdict ?? 'not finished',
    startedAt: new Date(row.startedAt).toISOString(),
    finishedAt: row.finishedAt === null ? null : new Date(row.finishedAt).toISOString(),
    failure: failure ? { code: failure.code, message: failure.message } : null,
  }
}
