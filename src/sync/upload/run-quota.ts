import { momentOf } from '../../foundation/clock.ts'
import { DAY_MS } from '../../foundation/text/times.ts'
import type { HoldingLimit, QuotaUse, UploadLimits } from '../../rules/limits.ts'
import type { MirrorRow } from '../../store/tables/mirrors.ts'
import type { UploadSpan } from '../../store/tables/uploads.ts'
import type { Engine } from '../engine.ts'

/**
 * Which uploads count as one run: those of all mirrors under a run's id; or, for a mirror of the daemon, those since a time
 * (monotonic).
 */
export type QuotaScope =
  | { readonly kind: 'run'; readonly runId: number; readonly afterUploadId: number }
  | { readonly kind: 'span'; readonly sinceMs: number }

/** What limits allow one mirror, read from the store, so that all mirrors of a run and all runs of a day share them. */
export class RunQuota {
  readonly #engine: Engine
  readonly #mirror: Pick<MirrorRow, 'id' | 'library'>
  readonly #scope: QuotaScope

  constructor(engine: Engine, mirror: Pick<MirrorRow, 'id' | 'library'>, scope: QuotaScope) {
    this.#engine = engine
    this.#mirror = mirror
    this.#scope = scope
  }

  get limits(): UploadLimits {
    return this.#engine.limits
  }

  /** Counts uploads and bytes until now; 0 for counts that no limit needs. */
  read(): QuotaUse {
    const { newPerRun, newPerDay, newBytesPerRun } = this.limits
    const { n, bytes } = newPerRun === null && newBytesPerRun === null ? { n: 0, bytes: 0 } : this.#tallyRun()
    return { inRun: n, bytesInRun: bytes, inDay: newPerDay === null ? 0 : this.#countDay() }
  }

  /** Returns when the limit leaves room again (wall clock); null if waiting alone does not bring that about. */
  freesAt(limit: HoldingLimit): number | null {
    const { newPerDay } = this.limits
    if (limit !== 'newPerDay' || newPerDay === null || newPerDay === 0) return null
    const { origin } = this.#mirror.library
    const excess = this.#countDay() - newPerDay
    return this.#engine.store.uploads.leaveTime(origin, this.#last(DAY_MS), Math.max(0, excess)) ?? null
  }

  #tallyRun(): { n: number; bytes: number } {
    const { store, clock } = this.#engine
    const scope = this.#scope
    if (scope.kind === 'run') return store.uploads.tallyRun(scope.runId, scope.afterUploadId)
    return store.uploads.tallyWithin(this.#mirror.id, this.#last(clock.monotonicMs() - scope.sinceMs))
  }

  #countDay(): number {
    return this.#engine.store.uploads.countWithin(this.#mirror.library.origin, this.#last(DAY_MS))
  }

  #last(spanMs: number): UploadSpan {
    return { spanMs, now: momentOf(this.#engine.clock) }
  }
}
