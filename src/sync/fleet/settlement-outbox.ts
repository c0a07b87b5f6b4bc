import type { Clock } from '../../foundation/clock.ts'
import type { Logger } from '../../foundation/logger.ts'
import {
  type DisputedOutcome,
  type EndKind,
  type Ledger,
  MAX_IN_A_CALL,
  type OpenedSession,
  type SharedOutcome,
  type UploadEnd,
} from '../../ledger/ledger.ts'
import type { Store } from '../../store/open-store.ts'
import { ABSENT_KEY, type Settlement } from '../../store/tables/settlements.ts'

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
 * Reports the outcomes of uploads to the ledger in numbered batches, which the store keeps until the ledger has them. A repeated batch
 * changes nothing, and a ledger with a lower last number has lost batches.
 */
export class SettlementOutbox {
  readonly #namesPaths: boolean
  readonly #context: OutboxContext
  readonly #store: FleetStore
  #flushing: Promise<void> | undefined
  #settled = 0n

  constructor(context: OutboxContext, { namesPaths = true }: { readonly namesPaths?: boolean } = {}) {
    this.#namesPaths = namesPaths
    this.#context = context
    this.#store = context.store
  }

  /**
   * Compares the number of the last batch with the ledger's, and returns whether the ledger has lost batches. A new ledger (`isUnknown`)
   * gets every receipt, including those from before this host had a ledger.
   */
  reconcile({ settled, generation }: OpenedSession, { acknowledged, isUnknown }: Reconciliation): boolean {
    const { settlements } = this.#store
    this.#settled = settled
    const { keyValues } = this.#store
    const hasLost = !isUnknown && settled < acknowledged
    if (!isUnknown && !hasLost && keyValues.get(ABSENT_KEY) === undefined) return false
    this.#store.write(() => {
      if (isUnknown || hasLost) settlements.forgetNumbers()
      // If the receipts of an earlier ledger were not all added yet, its number is still the bound.
      const had = BigInt(keyValues.get(UNSETTLED)?.split(' ')[1] ?? settled)
      keyValues.set(UNSETTLED, `0 ${isUnknown || had < settled ? -1n : settled}`)
      keyValues.set(ACKNOWLEDGED, String(settled))
      // Until the wait for lost sessions is over, the next start must find another ledger than it knows.
      if (hasLost) keyValues.set(LEDGER, `${generation}/lost`)
      keyValues.remove(ABSENT_KEY)
    })
    return hasLost
  }

  get isEmpty(): boolean {
    return this.#store.settlements.isEmpty() && this.#store.keyValues.get(UNSETTLED) === undefined
  }

  /** Some outcomes that the ledger lacks may be of contents that are wanted again, or it lacks receipts. */
  get mustFlushBeforeClaims(): boolean {
    return this.#store.settlements.hasReversible() || this.#store.keyValues.get(UNSETTLED) !== undefined
  }

  /** Sends the outbox, and logs contents that were sent twice. Adds no receipts once aborted. */
  async flush(session: LedgerSession): Promise<void> {
    this.#flushing ??= this.#flushAll(session).finally(() => {
      this.#flushing = undefined
    })
    await this.#flushing
  }

  async #flushAll({ ledger, session }: LedgerSession): Promise<void> {
    const { settlements } = this.#store
    for (;;) {
      while (settlements.isEmpty() && this.#addUnsettled(session)) await this.#context.clock.sleep(0)
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
      // A power cut may undo this: the batch keeps its number, so the ledger does not count it twice.
      this.#store.writeRelaxed(() => {
        settlements.acknowledge(batch)
        this.#store.keyValues.set(ACKNOWLEDGED, String(batch))
      })
      if (batch > this.#settled) this.#settled = batch
    }
  }

  /** Adds some of the receipts that the ledger lacks; returns false when there are no more. */
  #addUnsettled(session: bigint): boolean {
    const { settlements, keyValues, write } = this.#store
    const [afterId, settled] = keyValues.get(UNSETTLED)?.split(' ') ?? []
    if (afterId === undefined || settled === undefined) return false
    this.#context.signal.throwIfAborted()
    write(() => {
      const next = settlements.addUnsettled(session, Number(afterId), BigInt(settled))
      if (next === undefined) keyValues.remove(UNSETTLED)
      else keyValues.set(UNSETTLED, `${next} ${settled}`)
    })
    return true
  }

  /** The ledger knows a second resource or location of the content, though each is sent once. */
  #reportSecondSend(row: Settlement | undefined, { isLate, resourceId }: DisputedOutcome): void {
    if (!row || (resourceId === undefined && !(isLate && row.kind === 'duplicate'))) return
    const content = { sha256: row.sha256.toString('hex'), resourceId: row.resourceId }
    this.#context.logger.warn('a content was sent twice, by two hosts', content)
  }

  #number(batch: bigint): boolean {
    if (this.#store.settlements.isEmpty()) return false
    this.#store.write(() => this.#store.settlements.numberBatch(batch, MAX_IN_A_CALL))
    return true
  }
}

/** The key of the last batch whose acknowledgement the store has seen. */
export const ACKNOWLEDGED = 'fleet:acknowledged'

/** The key of the generation and the timeline of the ledger that this host has joined. */
export const LEDGER = 'fleet:ledger'

/** The content up to which missing receipts were added, and the last batch that the ledger has. */
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

/** The ledger keeps no remarks, only whether there is one. */
function sharedOutcome({ outcome, ingestionNote }: Settlement): SharedOutcome {
  return outcome === 'searchable' && ingestionNote !== null ? 'remarked' : (outcome ?? 'pending')
}
