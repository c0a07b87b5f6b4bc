import { z } from 'zod'
import { RUN_ENDINGS } from '../../contract/run-endings.ts'
import { isoTime } from '../../foundation/text/times.ts'
import { describeHold, heldBackShape } from '../../rules/limits.ts'
import type { StoreReader } from '../../store/open-store.ts'
import type { RunRow } from '../../store/tables/runs.ts'

interface MirrorOfHistory {
  readonly name: string
  /** Files that were uploaded, or that the library had already. */
  readonly sent: number
  readonly bytes: number
  readonly problems: number
}

/** A past run; times in ISO 8601. */
export interface PastRun {
  readonly run: number
  /** `ok`, `incomplete`, `failed`, `interrupted`, `running`, or `cut off` when its process ended first. */
  readonly verdict: string
  /** The verdict in words; `stopped` if an error ended the passes of all mirrors. */
  readonly ending: string
  readonly startedAt: string
  readonly finishedAt: string | null
  readonly durationMs: number | null
  /** Empty for a run that is not finished. */
  readonly mirrors: readonly MirrorOfHistory[]
}

export function readHistory(
  store: StoreReader,
  { limit, mirror }: { limit: number; mirror: string | undefined },
): PastRun[] {
  const found: PastRun[] = []
  const isLocked = store.isLocked()
  for (const row of store.runs.iterateNewest()) {
    if (found.length === limit) break
    const account = readAccount(row)
    const mirrors = account.map(({ name, uploads, problems }) => ({
      name,
      sent: uploads.created + uploads.duplicates,
      bytes: uploads.bytes,
      problems: problems.length,
    }))
    if (mirror !== undefined && !mirrors.some(({ name }) => name === mirror)) continue
    const { id: run, startedAt, finishedAt } = row
    const verdict = verdictOf(row, isLocked)
    const isStopped = verdict !== 'interrupted' && account.length > 0 && account.every(failureOf)
    found.push({
      run,
      verdict,
      ending: isStopped ? 'stopped' : (RUN_ENDINGS[verdict] ?? verdict),
      startedAt: isoTime(startedAt),
      finishedAt: isoTime(finishedAt),
      durationMs: finishedAt === null ? null : Math.max(0, finishedAt - startedAt),
      mirrors,
    })
  }
  return found
}

function verdictOf({ verdict }: RunRow, isLocked: boolean): string {
  return verdict ?? (isLocked ? 'running' : 'cut off')
}

/** The newest run of a mirror; times in ISO 8601. */
export interface LastRun {
  readonly run: number
  readonly verdict: string
  readonly startedAt: string
  readonly finishedAt: string | null
  /** The error that stopped the run or the pass of this mirror. */
  readonly failure: { readonly code: string; readonly message: string } | null
}

/** How many runs are searched for the last one of each mirror. */
const MAX_SEARCHED_RUNS = 50

export interface MirrorOfRun {
  readonly name: string
  readonly path: string
  readonly lastRun: LastRun
}

/** Returns the last run of each mirror by its name, if it is among the newest runs. */
export function readLastRuns(store: StoreReader): ReadonlyMap<string, MirrorOfRun> {
  const found = new Map<string, MirrorOfRun>()
  const isLocked = store.isLocked()
  for (const row of store.runs.listNewest(MAX_SEARCHED_RUNS)) {
    for (const mirror of readAccount(row)) {
      if (found.has(mirror.name)) continue
      const { name, path } = mirror
      found.set(name, { name, path, lastRun: lastRunOf(row, isLocked, mirror) })
    }
  }
  return found
}

/** `isLocked`: a process holds the store. `mirror` is undefined for an unfinished run. */
export function lastRunOf(row: RunRow, isLocked: boolean, mirror?: StoredMirror): LastRun {
  const failure = mirror && failureOf(mirror)
  return {
    run: row.id,
    verdict: verdictOf(row, isLocked),
    startedAt: isoTime(row.startedAt),
    finishedAt: isoTime(row.finishedAt),
    failure: failure ? { code: failure.code, message: failure.message } : null,
  }
}

function failureOf({ problems }: StoredMirror) {
  return problems.findLast(({ path }) => path === '')
}

/** The parts of a stored summary that history and status use. */
const storedAccount = z.object({
  mirrors: z.array(
    z.object({
      name: z.string(),
      path: z.string(),
      problems: z.array(z.object({ path: z.string(), code: z.string(), message: z.string() })),
      uploads: z.object({
        created: z.number(),
        duplicates: z.number(),
        bytes: z.number(),
        heldBackBy: z.array(heldBackShape),
      }),
    }),
  ),
})

type StoredMirror = z.infer<typeof storedAccount>['mirrors'][number]

function readAccount({ summary }: Pick<RunRow, 'summary'>): StoredMirror[] {
  if (summary === null) return []
  try {
    return storedAccount.safeParse(JSON.parse(summary)).data?.mirrors ?? []
  } catch {
    return []
  }
}

/** Returns which limits held back contents in the mirror's last run; null if none did. */
export function describeHeldBack(
  store: StoreReader,
  mirror: { readonly id: number; readonly name: string },
): string | null {
  const run = store.runs.last(mirror.id)
  const account = run && readAccount(run).find(({ name }) => name === mirror.name)
  return account?.uploads.heldBackBy.map(describeHold).join('; ') || null
}
