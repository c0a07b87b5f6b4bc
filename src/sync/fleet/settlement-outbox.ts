import type { Clock } from '../../foundation/clock.ts'
import type { Logger } from '../../foundation/logger.ts'
import {
  type EndKind,
  type Ledger,
  MOST_IN_A_CALL,
  type OddEnd,
  type OpenedSession,
  type SharedOutcome,
  type UploadEnd,
} from '../../ledger/ledger.ts'
import type { Store } from '../../store/open-store.ts'
import { ABSENT_KEY, type Settlement } from '../../store/tables/settlements.ts'

/** What the fleet needs of the store of its host. */
export interface FleetStore extends Pick<Store, 'write' | 'writeRelaxed'> {
  readonly keyValues: Pick<Store['keyValues'], 'get' | 'set' | 'remove'>
  readonly settlements: Omit<Store['settlements'], 'addDecided'>
  readonly contents: Pick<Store['contents'], 'getUploadState' | 'listSending'>
  readonly foreign: Pick<Store['foreign'], 'requireSearches'>
}

interface OutboxContext {
  readonly store: FleetStore
  readonly clock: Clock
  readonly logger: Logger
  readonly signal: AbortSignal
}

/**
 * Reports to the ledger how uploads ended, in numbered batches that the store keeps until the ledger has them: a repeated batch
 * changes nothing, and a ledger whose last number is lower than the store's has lost something.
 */
export class SettlementOutbox {
  readonly #namesPaths: boolean
  readonly #store: FleetStore
  readonly #clock: Clock
  readonly #logger: Logger
  readonly #signal: AbortSignal
  #flushing: Promise<void> | undefined
  /** The last batch that the ledger has settled. */
  #settled = 0n

  constructor(
    { store, clock, logger, signal }: OutboxContext,
    { namesPaths = true }: { readonly namesPaths?: boolean } = {},
  ) {
    this.#namesPaths = namesPaths
    this.#store = store
    this.#clock = clock
    this.#logger = logger
    this.#signal = signal
  }

  /**
   * Compares the number of the last batch with the ledger's. `isUnknown`: the ledger is another one than before, so that it gets all
   * receipts; so it does of what was sent while the store was used without a fleet. Returns whether the ledger has lost batches.
   */
  reconcile({ settled, generation }: OpenedSession, { acknowledged, isUnknown }: Reconciliation): boolean {
    const { settlements } = this.#store
    this.#settled = settled
    const { keyValues } = this.#store
    const hasLost = !isUnknown && settled < acknowledged
    if (!isUnknown && !hasLost && keyValues.get(ABSENT_KEY) === undefined) return false
    this.#store.write(() => {
      if (isUnknown || hasLost) settlements.forgetNumbers()
      // What an earlier ledger had settled counts as little as before.
      const had = BigInt(keyValues.get(UNSETTLED)?.split(' ')[1] ?? settled)
      keyValues.set(UNSETTLED, `0 ${isUnknown || had < settled ? -1n : settled}`)
      keyValues.set(ACKNOWLEDGED, String(settled))
      // Until the wait for lost sessions is over, the next start must not take this for the ledger it knows.
      if (hasLost) keyValues.set(LEDGER, `${generation}/lost`)
      keyValues.remove(ABSENT_KEY)
    })
    return hasLost
  }

  /** The ledger knows all ends. */
  get isEmpty(): boolean {
    return this.#store.settlements.isEmpty() && this.#store.keyValues.get(UNSETTLED) === undefined
  }

  /** Some ends that the ledger does not know may be of contents that are wanted again, or it lacks receipts. */
  get precedesClaims(): boolean {
    return this.#store.settlements.hasReversible() || this.#store.keyValues.get(UNSETTLED) !== undefined
  }

  /** Sends what is in the outbox, and logs which contents were sent twice. Once aborted, adds no receipts to it. */
  async flush(session: LedgerSession): Promise<void> {
    this.#flushing ??= this.#flushAll(session).finally(() => {
      this.#flushing = undefined
    })
    await this.#flushing
  }

  async #flushAll({ ledger, session }: LedgerSession): Promise<void> {
    const { settlements } = this.#store
    for (;;) {
      while (settlements.isEmpty() && this.#addUnsettled(session)) await this.#clock.sleep(0)
      const next = this.#settled + 1n
      const batch = settlements.oldestBatch() ?? (this.#number(next) ? next : undefined)
      if (batch === undefined) return
      const rows = settlements.list(batch)
      // The answer to an earlier call was lost.
      const odd =
        batch > this.#settled
          ? await ledger.settle(
              session,
              batch,
              rows.map((row) => toEnd(row, this.#namesPaths)),
            )
          : []
      for (const end of odd) this.#reportSecondSend(rows[end.index], end)
      // A power cut may take this back: the batch has its number, so the ledger is not reported it again.
      this.#store.writeRelaxed(() => {
        settlements.acknowledge(batch)
        this.#store.keyValues.set(ACKNOWLEDGED, String(batch))
      })
      if (batch > this.#settled) this.#settled = batch
    }
  }

  /** Adds some of the receipts that the ledger lacks; returns false when none is left to look for. */
  #addUnsettled(session: bigint): boolean {
    const { settlements, keyValues, write } = this.#store
    const [afterId, settled] = keyValues.get(UNSETTLED)?.split(' ') ?? []
    if (afterId === undefined || settled === undefined) return false
    this.#signal.throwIfAborted()
    write(() => {
      const next = settlements.addUnsettled(session, { afterId: Number(afterId), settled: BigInt(settled) })
      if (next === undefined) keyValues.remove(UNSETTLED)
      else keyValues.set(UNSETTLED, `${next} ${settled}`)
    })
    return true
  }

  /** The ledger knows more than one resource or location of the content, though each is sent once. */
  #reportSecondSend(row: Settlement | undefined, { isLate, resourceId }: OddEnd): void {
    if (!row || (resourceId === undefined && !(isLate && row.kind === 'duplicate'))) return
    const content = { sha256: row.sha256.toString('hex'), resourceId: row.resourceId }
    this.#logger.warn('a content was sent twice, by two hosts', content)
  }

  #number(batch: bigint): boolean {
    if (this.#store.settlements.isEmpty()) return false
    this.#store.write(() => this.#store.settlements.numberBatch(batch, MOST_IN_A_CALL))
    return true
  }
}

/** The key of the last batch whose acknowledgement the store has seen. */
export const ACKNOWLEDGED = 'fleet:acknowledged'

/** The key of the generation and the timeline of the ledger that this host has joined. */
export const LEDGER = 'fleet:ledger'

/** The key of the content after which receipts that the ledger lacks are still to be added, and of the last batch that it has. */
const UNSETTLED = 'fleet:unsettled'

interface LedgerSession extends Pick<OpenedSession, 'session'> {
  readonly ledger: Ledger
}

interface Reconciliation {
  readonly acknowledged: bigint
  readonly isUnknown: boolean
}

function toEnd(row: Settlement, namesPaths: boolean): UploadEnd {
  const { session, origin, tenantId, remoteId, sha256, mime, size, resourceId } = row
  const kind = row.kind as EndKind
  const end = { session: BigInt(session), library: { origin, tenantId, remoteId }, sha256, mime, sizeBytes: size, kind }
  if (kind === 'refused' || kind === 'ignored') {
    const { problemCode, problemMessage, retryAt, isSetAside } = row
    const message = (namesPaths && problemMessage) || ''
    const refusal = { code: problemCode ?? 'request-rejected', message, retryAt }
    return { ...end, refusal: { ...refusal, isSetAside: isSetAside === 1 } }
  }
  if (resourceId === null) return end
  return { ...end, resourceId, outcome: sharedOutcome(row) }
}

/** The ledger holds no remarks: it says that there is one. */
function sharedOutcome({ outcome, ingestionNote }: Settlement): SharedOutcome {
  return outcome === 'searchable' && ingestionNote !== null ? 'remarked' : (outcome ?? 'pending')
}
