import type { MirrorOverview } from '../../contract/dashboard.ts'
import { fileCounts } from '../../contract/file-counts.ts'
import { isoTime } from '../../foundation/text/times.ts'
import type { StoreReader } from '../../store/open-store.ts'
import {
  type DaemonMirrorStatus,
  type DaemonStatus,
  describeWatching,
  timesOfController,
} from '../continuous/controller-status.ts'
import { stateOfDaemon, stateOfMirror, stateOfRun, stateOfUnusedMirror } from '../report/mirror-state.ts'
import type { LastRun } from '../report/run-history.ts'
import { type MirrorStatus, readStatus, readUnstoredMirrors } from '../report/status-of-mirrors.ts'

/** A mirror that is configured, in the store, or both. */
export interface ListedMirror {
  readonly name: string
  readonly path: string
  readonly isOutOfUse: boolean
  /** Why a sync without names skips this mirror; null if it does not. */
  readonly inactive: string | null
}

export type ReadMirror = Omit<MirrorOverview, 'isSyncing' | 'syncWaitsFor' | 'syncFailure'>

export interface OverviewInput {
  readonly daemon: DaemonStatus | null
  readonly listed: readonly ListedMirror[]
  readonly nowMs: number
}

export function readOverview(
  store: StoreReader | undefined,
  { daemon, listed, nowMs }: OverviewInput,
): readonly ReadMirror[] {
  const statuses = new Map(daemon?.mirrors.map((status) => [status.name, status]))
  const synced = new Map((store ? readStatus(store) : []).map((mirror) => [mirror.name, mirror]))
  const failed = store ? readUnstoredMirrors(store) : []
  const names = new Set([...listed, ...(daemon?.mirrors ?? []), ...synced.values()].map(({ name }) => name))
  return [...names].flatMap((name) => {
    const entry = listed.find((each) => each.name === name)
    const [mirror, status] = [synced.get(name), statuses.get(name)]
    if (mirror) return [syncedMirror(mirror, entry, status, nowMs)]
    const path = entry?.path ?? status?.path
    const lastRun = failed.find((each) => each.name === name)?.lastRun ?? null
    return path === undefined ? [] : [unsyncedMirror({ name, path }, status, lastRun, nowMs)]
  })
}

function syncedMirror(
  mirror: MirrorStatus,
  listed: ListedMirror | undefined,
  status: DaemonMirrorStatus | undefined,
  nowMs: number,
): ReadMirror {
  const { name, path, library, remotePath, isPaused, files, queue, ingestion, lastRun, problems } = mirror
  const { isOutOfUse = false, inactive = null } = listed ?? {}
  const { details, times, nextRunAt } = describeController(status)
  return {
    name,
    path,
    library: { ...library, remotePath },
    state:
      isOutOfUse && inactive !== null ? stateOfUnusedMirror(mirror, inactive) : stateOfMirror(mirror, status, nowMs),
    isPaused,
    files,
    queue,
    inIngestion: ingestion.pending,
    problems: problems.length,
    lastRun: runOf(lastRun),
    details: isOutOfUse || inactive === null ? details : [['note', inactive], ...details],
    times,
    nextRunAt,
  }
}

function unsyncedMirror(
  { name, path }: Pick<ListedMirror, 'name' | 'path'>,
  status: DaemonMirrorStatus | undefined,
  lastRun: LastRun | null,
  nowMs: number,
): ReadMirror {
  const state = (status && stateOfDaemon(status, nowMs)) ?? stateOfRun(lastRun, nowMs)
  return {
    name,
    path,
    library: null,
    state: state ?? { sign: '!', text: 'never synced' },
    isPaused: false,
    files: fileCounts.parse({}),
    queue: { contents: 0, bytes: 0 },
    inIngestion: 0,
    problems: 0,
    lastRun: runOf(lastRun),
    ...describeController(status),
  }
}

function runOf(run: LastRun | null): ReadMirror['lastRun'] {
  return run && { at: run.finishedAt ?? run.startedAt, verdict: run.verdict }
}

function describeController(status?: DaemonMirrorStatus): Pick<ReadMirror, 'details' | 'times' | 'nextRunAt'> {
  if (!status) return { details: [], times: [], nextRunAt: null }
  const details = Object.entries(describeWatching(status))
  return {
    details: details.flatMap(([label, text]) => (text === undefined ? [] : [[label, text] as [string, string]])),
    times: timesOfController(status).map(([label, timeMs]) => [label, isoTime(timeMs)]),
    nextRunAt: isoTime(status.nextRunAt),
  }
}
