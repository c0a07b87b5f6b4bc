import { z } from 'zod'
import { errorCodes } from '../../foundation/errors.ts'
import { counted, shellWord } from '../../foundation/text/safe-text.ts'
import { formatTime } from '../../foundation/text/times.ts'
import { describeHold } from '../../rules/limits.ts'
import type { SyncSummary } from '../../rules/sync-summary.ts'
import { ledgerStatus } from '../fleet/ledger-monitor.ts'

const holdCodes = ['paused', 'maintenance', 'scheduled'] as const
export const mirrorStates = ['starting', 'scanning', 'idle', 'sending', 'waiting', 'held', 'halted'] as const
export const serviceStates = ['unasked', 'connected', 'away', 'refused'] as const

const timeMs = z.number().nullable()
const errorReason = z.object({ code: z.enum(errorCodes), message: z.string() })

/** Times are wall clock. */
const controllerStatus = z.object({
  /** `halted`: an operator must act; `waiting`: the controller continues by itself. */
  state: z.enum(mirrorStates),
  /** Why the mirror is waiting, held or halted, and what resolves it; null if nothing holds it up. */
  reason: errorReason.extend({ code: z.enum([...errorCodes, ...holdCodes]) }).nullable(),
  /** The back end that reports changes; null before watching begins, and for a mirror that is not watched. */
  watcher: z.enum(['node', 'chokidar', 'poll']).nullable(),
  /** Whether the system allows no more watches; the mirror is then scanned every `pollInterval`. */
  isWatchLimited: z.boolean(),
  settling: z.number(),
  /** How many changed files only a scan has found since the daemon started. */
  missedByWatcher: z.number(),
  lastScanAt: timeMs,
  /** When everything in the mirror was last found to be uploaded. */
  lastSuccessAt: timeMs,
  nextScanAt: timeMs,
})

const serviceStatus = z.object({
  state: z.enum(serviceStates),
  sinceMs: z.number(),
  reason: errorReason.nullable(),
})

export type HoldCode = (typeof holdCodes)[number]
export type ControllerStatus = Readonly<z.infer<typeof controllerStatus>>
export type ControllerState = ControllerStatus['state']
export type WaitReason = Readonly<NonNullable<ControllerStatus['reason']>>
export type ServiceStatus = Readonly<z.infer<typeof serviceStatus>>

const daemonMirrorStatus = z.object({
  name: z.string(),
  path: z.string(),
  ...controllerStatus.omit({ nextScanAt: true }).shape,
  nextRunAt: z.number().nullable(),
  nextBatchAt: z.number().nullable().default(null),
})

export const daemonStatus = z.object({
  pid: z.int(),
  startedAt: z.number(),
  service: serviceStatus,
  /** Null if the host shares no ledger. */
  ledger: ledgerStatus.nullable().default(null),
  /** Whether the disk of the store is full; nothing is sent until it has room. */
  isStoreFull: z.boolean(),
  uploading: z.number(),
  inIngestion: z.number(),
  mirrors: z.array(daemonMirrorStatus).readonly(),
})

export type DaemonMirrorStatus = Readonly<z.infer<typeof daemonMirrorStatus>>
export type DaemonStatus = Readonly<z.infer<typeof daemonStatus>>

/** Returns one line about the daemon, which the service manager shows. */
export function describeStatus(status: DaemonStatus): string {
  const { service, ledger, mirrors, uploading, inIngestion, isStoreFull } = status
  const halted = mirrors.filter(({ state }) => state === 'halted')
  const parts = [
    `${mirrors.length} ${mirrors.length === 1 ? 'mirror' : 'mirrors'}`,
    halted.length > 0 ? `halted: ${halted.map(({ name }) => name).join(', ')}` : '',
    isStoreFull ? 'the disk of the store is full' : '',
    service.state === 'away' ? 'the service is away' : '',
    service.state === 'refused' ? 'the credential was refused' : '',
    ledger?.state === 'away' ? 'the ledger is away' : '',
    ledger?.state === 'refused' ? 'the ledger refuses this host' : '',
    uploading > 0 ? `${uploading} uploading` : '',
    inIngestion > 0 ? `${inIngestion} in ingestion` : '',
  ]
  return parts.filter((part) => part !== '').join(', ')
}

export function describeController(
  status: DaemonMirrorStatus,
  nowMs: number,
): Readonly<Record<string, string | undefined>> {
  const times = timesOfController(status).map(([label, timeMs]) => [label, formatTime(timeMs, nowMs)])
  return { ...describeWatching(status), ...Object.fromEntries(times) }
}

export function describeWatching({
  isWatchLimited,
  watcher,
  settling,
  missedByWatcher,
}: DaemonMirrorStatus): Readonly<Record<string, string | undefined>> {
  return {
    watching: isWatchLimited ? 'no, scanning instead: the system allows no more watches' : describeWatcher(watcher),
    settling: settling === 0 ? undefined : `${counted(settling, 'file')} changed a moment ago`,
    'missed by the watcher': missedByWatcher === 0 ? undefined : counted(missedByWatcher, 'change'),
  }
}

export function timesOfController(status: DaemonMirrorStatus): readonly (readonly [label: string, timeMs: number])[] {
  const times = [
    ['last full scan', status.lastScanAt],
    ['all sent', status.lastSuccessAt],
    ['next run', status.nextRunAt],
    ['next batch', status.nextBatchAt],
  ] as const
  return times.flatMap(([label, timeMs]) => (timeMs === null ? [] : [[label, timeMs] as const]))
}

const WATCHER_BY_PLATFORM: Readonly<Record<string, string>> = {
  linux: 'inotify',
  darwin: 'FSEvents',
  win32: 'ReadDirectoryChangesW',
}

function describeWatcher(watcher: DaemonMirrorStatus['watcher']): string | undefined {
  if (watcher === null) return undefined
  if (watcher === 'poll') return 'no, scanning instead'
  if (watcher === 'chokidar') return watcher
  return WATCHER_BY_PLATFORM[process.platform] ?? watcher
}

export function limitReason(mirror: string, { heldBack, heldBackBy }: SyncSummary['uploads']): WaitReason {
  const files = counted(heldBack, 'new file is', 'new files are')
  const limits = heldBackBy.map(describeHold).join('; ')
  const message = `${files} ${limits}; "shelfd sync ${shellWord(mirror)}" starts a run now, with the limits of a run`
  return { code: 'limit-reached', message }
}
