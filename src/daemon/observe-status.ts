import { causeOfFiles } from '../rules/notice-causes.ts'
import { type Cause, type MirrorSituation, mirrorKey, type Situation } from '../rules/notices.ts'
import type { DaemonMirrorStatus, DaemonStatus } from '../sync/continuous/controller-status.ts'
import { isFailing } from './health/readiness.ts'

/** What the status does not say of a mirror. */
export interface MirrorTroubles {
  /** Problems of its paths and contents, counted by code. */
  readonly problems: readonly { readonly code: string; readonly count: number }[]
  /** When its last scheduled batch was due; null for a mirror without a schedule. */
  readonly lastBatchAt: number | null
}

interface Moment {
  readonly nowMs: number
  /** The daemon started or the machine woke a short while ago: a mirror that is behind is catching up. */
  readonly isFresh: boolean
  readonly troublesOf: (mirror: string) => MirrorTroubles
}

/** Derives what notices are about from the daemon's status. */
export function observeStatus(status: DaemonStatus, moment: Moment): Situation {
  const { mirrors, service, isStoreFull } = status
  const judged = new Set<string>()
  const causes: Cause[] = []
  if (service.state === 'refused' && service.reason) causes.push({ key: 'service', ...service.reason })
  if (service.state === 'connected') judged.add('service')
  if (isStoreFull) causes.push({ key: 'store', code: 'disk-full', message: 'the disk of the state is full' })
  else if (mirrors.some(isAtWork)) judged.add('store')
  for (const mirror of mirrors) {
    const { name, reason, lastScanAt } = mirror
    const key = mirrorKey('mirror', name)
    if (isFailing(mirror))
      causes.push({ key, code: reason?.code ?? '', message: `${name}: ${reason?.message ?? 'it is halted'}` })
    else if (isAtWork(mirror)) judged.add(key)
    if (lastScanAt === null) continue
    causes.push(...causeOfFiles(name, moment.troublesOf(name).problems))
    judged.add(mirrorKey('files', name))
  }
  return { nowMs: moment.nowMs, causes, judged, mirrors: mirrors.map((mirror) => observeMirror(mirror, moment)) }
}

/** Nothing stops it, which was found out since the daemon started. */
function isAtWork({ state, lastScanAt }: DaemonMirrorStatus): boolean {
  return state === 'idle' || state === 'sending' || (state === 'held' && lastScanAt !== null)
}

function observeMirror(mirror: DaemonMirrorStatus, { nowMs, isFresh, troublesOf }: Moment): MirrorSituation {
  const { name, state, reason, lastSuccessAt } = mirror
  const seen = (what: MirrorSituation['state'], triedAt = nowMs): MirrorSituation => ({ name, state: what, triedAt })
  if (reason?.code === 'paused') return seen('paused')
  if (state === 'idle') return seen('up-to-date')
  if (reason?.code === 'scheduled') return observeBatches(lastSuccessAt, troublesOf(name).lastBatchAt, seen)
  return seen(isFresh || state === 'held' ? 'unknown' : 'behind')
}

/** Between two batches a mirror is as up to date as the last one left it. */
function observeBatches(
  lastSuccessAt: number | null,
  lastBatchAt: number | null,
  seen: (what: MirrorSituation['state'], triedAt?: number) => MirrorSituation,
): MirrorSituation {
  if (lastBatchAt === null || lastSuccessAt === null) return seen('unknown')
  return lastSuccessAt >= lastBatchAt ? seen('up-to-date') : seen('behind', lastBatchAt)
}
