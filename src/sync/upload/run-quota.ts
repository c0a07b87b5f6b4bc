import type { HoldingLimit, QuotaUse, UploadLimits } from '../../rules/upload/quota.ts'
import type { MirrorRow } from '../../store/tables/mirrors.ts'
import type { Engine, StoreContext } from '../engine.ts'

const DAY_MS = 24 * 3_600_000

/**
 * Which uploads count as one run: those of all mirrors under a run's id; or, for a mirror of the daemon, those since a time
 * (wall clock).
 */
export type QuotaScope =
  | { readonly kind: 'run'; readonly runId: number; readonly afterUploadId: number }
  | { readonly kind: 'span'; readonly sinceMs: number }

/** What counting uploads against limits needs. */
export type QuotaContext = StoreContext & Pick<Engine, 'limits'>

/** What limits allow one mirror, read from the store, so that all mirrors of a run and all runs of a day share them. */
export class RunQuota {
  readonly #engine: QuotaContext
  readonly #mirror: Pick<MirrorRow, 'id' | 'library'>
  readonly #scope: QuotaScope

  constructor(engine: QuotaContext, mirror: Pick<MirrorRow, 'id' | 'library'>, scope: QuotaScope) {
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

  /** When the limit leaves room again (wall clock); null if waiting alone does not bring that about. */
  freesAt(limit: HoldingLimit): number | null {
    const { newPerDay } = this.limits
    if (limit !== 'newPerDay' || newPerDay === null || newPerDay === 0) return null
    const { store, clock } = this.#engine
    const nowMs = clock.nowMs()
    const excess = this.#countDay() - newPerDay
    const leaves = store.uploads.nthSince(this.#mirror.library.origin, nowMs - DAY_MS, nowMs, Math.max(0, excess))
    return leaves === undefined ? null : leaves + DAY_MS
  }

  #tallyRun(): { n: number; bytes: number } {
    const { store, clock } = this.#engine
    const scope = this.#scope
    if (scope.kind === 'run') return store.uploads.tallyRun(scope.runId, scope.afterUploadId)
    return store.uploads.tallySince(this.#mirror.id, scope.sinceMs, clock.nowMs())
  }

  #countDay(): number {
    const { store, clock } = this.#engine
    const nowMs = clock.nowMs()
    return store.uploads.countSince(this.#mirror.library.origin, nowMs - DAY_MS, nowMs)
  }
}
