import type { Clock } from '../foundation/clock.ts'
import type { Logger } from '../foundation/logger.ts'
import type { Store } from '../store/open-store.ts'
import type { DaemonStatus } from '../sync/continuous/controller-status.ts'
import { type NoticePlan, Notifications } from '../sync/notifications.ts'
import { type MirrorTroubles, observeStatus } from './observe-status.ts'
import { readHandled } from './schedule/handled-batch.ts'

/** Shorter faults are not worth a notice, and looking costs queries. */
const LOOK_INTERVAL_MS = 60_000
/** After a start or a wake mirrors may be behind for so long before that counts. */
const FRESH_MS = 30 * 60_000

export interface StatusNoticesInput {
  readonly store: Store
  readonly clock: Clock
  readonly logger: Logger
  readonly signal: AbortSignal
}

/** Reads the daemon's status every minute and sends notices of it. */
export class StatusNotices {
  readonly #input: StatusNoticesInput
  readonly #notifications: Notifications
  #lookedAtMs: number | undefined
  #freshSinceMs: number

  constructor(input: StatusNoticesInput, plan: NoticePlan) {
    this.#input = input
    this.#notifications = new Notifications(input, plan)
    this.#freshSinceMs = input.clock.monotonicMs()
  }

  /** Called at every beat; looks when a minute has passed. */
  async beat(status: () => DaemonStatus): Promise<void> {
    const { clock } = this.#input
    const nowMs = clock.monotonicMs()
    this.#lookedAtMs ??= nowMs
    if (nowMs - this.#lookedAtMs < LOOK_INTERVAL_MS) return
    this.#lookedAtMs = nowMs
    const isFresh = nowMs - this.#freshSinceMs < FRESH_MS
    const troublesOf = (mirror: string) => this.#troublesOf(mirror)
    await this.#notifications.update(observeStatus(status(), { nowMs: clock.nowMs(), isFresh, troublesOf }))
  }

  /** The machine slept. */
  woke(): void {
    this.#freshSinceMs = this.#input.clock.monotonicMs()
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
