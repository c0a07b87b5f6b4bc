import type { Clock } from '../foundation/clock.ts'
import { messageOf } from '../foundation/errors.ts'
import type { Logger } from '../foundation/logger.ts'
import { causeOfFiles } from '../rules/notice-causes.ts'
import { type Cause, type MirrorSituation, mirrorKey, type Situation } from '../rules/notices.ts'
import type { Store } from '../store/open-store.ts'
import type { DaemonMirrorStatus, DaemonStatus } from '../sync/continuous/controller-status.ts'
import { type NoticePlan, Notifications } from '../sync/operator/notifications.ts'
import { isFailing } from './health.ts'
import { readHandled } from './schedule/schedule.ts'

/** Faults that are shorter need no notice, and each check costs queries. */
const CHECK_INTERVAL_MS = 60_000
/** After the daemon's start or the machine's wake, mirrors may be behind for this long. */
const FRESH_MS = 30 * 60_000

interface StatusNoticesInput {
  readonly store: Store
  readonly clock: Clock
  readonly logger: Logger
  readonly signal: AbortSignal
}

/** Disposing waits for a notice that is being sent. */
export class StatusNotices implements AsyncDisposable {
  readonly #input: StatusNoticesInput
  readonly #notifications: Notifications
  #checkedAtMs: number | undefined
  #freshSinceMs: number

  constructor(input: StatusNoticesInput, plan: NoticePlan) {
    this.#input = input
    this.#notifications = new Notifications(input, plan)
    this.#freshSinceMs = input.clock.monotonicMs()
  }

  /** Call it at every beat. */
  async beat(status: () => DaemonStatus): Promise<void> {
    const { clock, logger } = this.#input
    const nowMs = clock.monotonicMs()
    this.#checkedAtMs ??= nowMs
    if (nowMs - this.#checkedAtMs < CHECK_INTERVAL_MS) return
    this.#checkedAtMs = nowMs
    const isFresh = nowMs - this.#freshSinceMs < FRESH_MS
    const troublesOf = (mirror: string) => this.#troublesOf(mirror)
    let seen: Situation
    try {
      seen = situationOf(status(), { nowMs: clock.nowMs(), isFresh, troublesOf })
    } catch (error) {
      // Reading can fail on a full disk too, because SQLite sorts in temporary files. Writes report all other faults.
      logger.warn('cannot check whether a notice must be sent', { reason: messageOf(error) })
      return
    }
    await this.#notifications.update(seen)
  }

  /** Call it when the machine slept. */
  woke(): void {
    this.#freshSinceMs = this.#input.clock.monotonicMs()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#notifications[Symbol.asyncDispose]()
  }

  #troublesOf(mirror: string): MirrorTroubles {
    const { store } = this.#input
    const row = store.mirrors.findByName(mirror)
    const lastBatchAt = readHandled(store.keyValues, mirror)?.handledAt ?? null
    if (!row) return { problems: [], lastBatchAt }
    const problems = [...store.problems.countByCode(row.id), ...store.contents.countTroubled(row.id, row.library.id)]
    return { problems, lastBatchAt }
  }
}

/** Problems and times of a mirror that its status lacks. */
export interface MirrorTroubles {
  readonly problems: readonly { readonly code: string; readonly count: number }[]
  /** When its last scheduled batch was due; null without a schedule. */
  readonly lastBatchAt: number | null
}

interface Moment {
  readonly nowMs: number
  /** The daemon started or the machine woke a short time ago, so a mirror that is behind is catching up. */
  readonly isFresh: boolean
  readonly troublesOf: (mirror: string) => MirrorTroubles
}

export function situationOf(status: DaemonStatus, moment: Moment): Situation {
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
  return { nowMs: moment.nowMs, causes, judged, mirrors: mirrors.map((mirror) => situationOfMirror(mirror, moment)) }
}

/** Returns whether the daemon has checked the mirror and found nothing that stops it. */
function isAtWork({ state, lastScanAt }: DaemonMirrorStatus): boolean {
  return state === 'idle' || state === 'sending' || (state === 'held' && lastScanAt !== null)
}

function situationOfMirror(mirror: DaemonMirrorStatus, { nowMs, isFresh, troublesOf }: Moment): MirrorSituation {
  const { name, state, reason, lastSuccessAt } = mirror
  const seen = (what: MirrorSituation['state'], triedAt = nowMs): MirrorSituation => ({ name, state: what, triedAt })
  if (reason?.code === 'paused') return seen('paused')
  if (state === 'idle') return seen('up-to-date')
  if (reason?.code === 'scheduled') return situationBetweenBatches(lastSuccessAt, troublesOf(name).lastBatchAt, seen)
  return seen(isFresh || state === 'held' ? 'unknown' : 'behind')
}

/** Between two batches, a mirror is up to date if its last batch succeeded. */
function situationBetweenBatches(
  lastSuccessAt: number | null,
  lastBatchAt: number | null,
  seen: (what: MirrorSituation['state'], triedAt?: number) => MirrorSituation,
): MirrorSituation {
  if (lastBatchAt === null || lastSuccessAt === null) return seen('unknown')
  return lastSuccessAt >= lastBatchAt ? seen('up-to-date') : seen('behind', lastBatchAt)
}
