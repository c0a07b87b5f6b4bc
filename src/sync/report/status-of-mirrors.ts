import { type FileCounts, fileCounts } from '../../contract/file-counts.ts'
import { type PathProblem, problemOfContent } from '../../rules/problem-groups.ts'
import type { StoreReader } from '../../store/open-store.ts'
import type { MirrorRow } from '../../store/tables/mirrors.ts'
import type { FileTally } from '../../store/tables/report-queries.ts'
import { isPaused } from '../operator/pause-mirrors.ts'
import { type LastRun, lastRunOf, type MirrorOfRun, readLastRuns } from './run-history.ts'

export interface MirrorStatus {
  readonly name: string
  readonly path: string
  readonly library: { readonly id: string; readonly name: string }
  readonly remotePath: string
  /** Whether the daemon's uploads of this mirror are paused until the command `resume`. */
  readonly isPaused: boolean
  readonly files: FileCounts
  readonly queue: { readonly contents: number; readonly bytes: number }
  /** How many directories with files are still to be created in the library. */
  readonly directoriesToMake: number
  readonly ingestion: { readonly pending: number }
  readonly lastRun: LastRun | null
  readonly isRunning: boolean
  /** Null if no run is active, or if everything is uploaded. */
  readonly progress: SendingProgress | null
  readonly problems: readonly PathProblem[]
  /** How many paths have a problem that `failed ignore` set aside. */
  readonly pathsSetAside: number
}

/** Contents and bytes that the run has uploaded so far, and how many it uploads in total. */
export interface SendingProgress {
  readonly contentsSent: number
  readonly contentsTotal: number
  readonly bytesSent: number
  readonly bytesTotal: number
}

export function readStatus(store: StoreReader): MirrorStatus[] {
  const isLocked = store.isLocked()
  const runs = readLastRuns(store)
  return store.mirrors.list().map((row) => statusOf(store, row, isLocked, runs.get(row.name)?.lastRun))
}

/** Returns mirrors that are not in the store, because each of their runs failed before it reached the library. */
export function readUnstoredMirrors(store: StoreReader): MirrorOfRun[] {
  const stored = new Set(store.mirrors.list().map(({ name }) => name))
  return [...readLastRuns(store).values()].filter(({ name, lastRun }) => !stored.has(name) && lastRun.failure !== null)
}

/** `named`: the newest finished run that names the mirror. */
function statusOf(store: StoreReader, row: MirrorRow, isLocked: boolean, named: LastRun | undefined): MirrorStatus {
  const { n: contents, bytes } = store.contents.countToSend(row.id)
  const troubled = store.contents.listTroubled(row.id, row.library.id)
  const lastRun = newestRun(store, row.id, isLocked, named)
  const contentProblems = isLocked ? troubled.filter(({ state }) => state !== 'sending') : troubled
  return {
    name: row.name,
    path: row.path,
    library: { id: row.library.remoteId, name: row.library.name },
    remotePath: row.remotePath,
    isPaused: isPaused(store, row.name),
    files: countFiles(store.report.tallyFiles(row.id), isLocked),
    queue: { contents, bytes },
    directoriesToMake: store.directories.listPendingHolders(row.id).length,
    ingestion: { pending: store.contents.countPending(row) },
    lastRun,
    isRunning: lastRun?.verdict === 'running',
    progress: isLocked ? progressOf(store, row.id) : null,
    problems: [
      ...store.problems.listOpen(row.id).map(({ path, code, message }) => ({ path, code, message })),
      ...contentProblems.map(problemOfContent),
    ],
    pathsSetAside: store.problems.list(row.id).filter(({ isSetAside }) => isSetAside === 1).length,
  }
}

/** Returns the newest run that opened the mirror, or a newer one that failed before it opened the mirror. */
function newestRun(
  store: StoreReader,
  mirrorId: number,
  isLocked: boolean,
  named: LastRun | undefined,
): LastRun | null {
  const row = store.runs.last(mirrorId)
  if (!row) return named ?? null
  return named && named.run >= row.id ? named : lastRunOf(row, isLocked)
}

function progressOf(store: StoreReader, mirrorId: number): SendingProgress | null {
  const run = store.runs.last(mirrorId)
  if (!run || run.verdict !== null) return null
  const waiting = store.contents.countToSend(mirrorId)
  const sending = store.uploads.tallyUnderWay(mirrorId, run.startedAt)
  if (waiting.n + sending.n === 0) return null
  const arrived = store.uploads.tallyArrived(mirrorId, run.startedAt)
  return {
    contentsSent: arrived.n,
    contentsTotal: arrived.n + sending.n + waiting.n,
    bytesSent: arrived.bytes,
    bytesTotal: arrived.bytes + sending.bytes + waiting.bytes,
  }
}

export function countFiles(tallies: readonly FileTally[], isLocked: boolean): FileCounts {
  const counts = fileCounts.parse({})
  for (const tally of tallies) {
    counts.known += tally.files
    const key = keyOf(tally, isLocked)
    const withoutText = key === 'searchable' ? tally.withoutText : 0
    counts[key] += tally.files - withoutText
    counts.withoutText += withoutText
  }
  return counts
}

function keyOf({ state, outcome, isSetAside, hasProblem }: FileTally, isLocked: boolean): keyof FileCounts {
  if (state === 'new') return 'toSend'
  if (state === 'sending' && isLocked) return 'sending'
  if (state === 'sending' || (state === 'doubt' && hasProblem === 0)) return 'inDoubt'
  if (outcome === 'searchable') return 'searchable'
  if (outcome === 'pending') return 'inIngestion'
  return isSetAside === 1 ? 'setAside' : 'needAttention'
}
