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
 * changes nothing. If the ledger's last number is below the last acknowledged one, the ledger has lost batches.
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
      // If an earlier reconciliation is unfinished, and the ledger has had more batches since, all receipts are added again (-1).
      const earlierBound = parseUnsettled(keyValues.get(UNSETTLED))?.settled ?? settled
      keyValues.set(UNSETTLED, `0 ${isUnknown || earlierBound < settled ? -1n : settled}`)
      keyValues.set(ACKNOWLEDGED, String(settled))
      // If this host restarts before the wait for lost sessions is over, it must treat the ledger as new and wait again.
      if (hasLost) keyValues.set(LEDGER, `${generation}/lost`)
      keyValues.remove(ABSENT_KEY)
    })
    return hasLost
  }

  get isEmpty(): boolean {
    return this.#store.settlements.isEmpty() && this.#store.keyValues.get(UNSETTLED) === undefined
  }

  /** True if the ledger lacks receipts, or outcomes that let a content be claimed again. */
  get mustFlushBeforeClaims(): boolean {
    return this.#store.settlements.hasReversible() || this.#store.keyValues.get(UNSETTLED) !== undefined
  }

  /** Sends the outbox, and logs contents that were sent twice. Throws before it adds receipts if the signal is aborted. */
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
      const batch = settlements.oldestBatch() ?? (this.#assignNumber(next) ? next : undefined)
      if (batch === undefined) return
      const rows = settlements.list(batch)
      // The ledger already has a batch up to `#settled`: only the answer to the earlier call was lost.
      const disputed =
        batch > this.#settled
          ? await ledger.settle(
              session,
              batch,
              rows.map((row) => toEnd(row, this.#namesPaths)),
            )
          : []
      for (const end of disputed) this.#reportSecondSend(rows[end.index], end)
      // If a power cut undoes this, the batch is sent again with the same number, and the ledger does not settle it twice.
      this.#store.writeRelaxed(() => {
        settlements.acknowledge(batch)
        this.#store.keyValues.set(ACKNOWLEDGED, String(batch))
      })
      if (batch > this.#settled) this.#settled = batch
    }
  }

  /** Adds some of the receipts that the ledger lacks to the outbox; returns false when there are no more. */
  #addUnsettled(session: bigint): boolean {
    const { settlements, keyValues, write } = this.#store
    const unsettled = parseUnsettled(keyValues.get(UNSETTLED))
    if (!unsettled) return false
    const { afterId, settled } = unsettled
    this.#context.signal.throwIfAborted()
    write(() => {
      const next = settlements.addUnsettled(session, afterId, settled)
      if (next === undefined) keyValues.remove(UNSETTLED)
      else keyValues.set(UNSETTLED, `${next} ${settled}`)
    })
    return true
  }

  /** Logs that two hosts sent the same content, if the dispute shows a second resource or location. */
  #reportSecondSend(row: Settlement | undefined, { isLate, resourceId }: DisputedOutcome): void {
    if (!row || (resourceId === undefined && !(isLate && row.kind === 'duplicate'))) return
    const content = { sha256: row.sha256.toString('hex'), resourceId: row.resourceId }
    this.#context.logger.warn('a content was sent twice, by two hosts', content)
  }

  #assignNumber(batch: bigint): boolean {
    if (this.#store.settlements.isEmpty()) return false
    this.#store.write(() => this.#store.settlements.numberBatch(batch, MAX_IN_A_CALL))
    return true
  }
}

/** Key: the number of the last batch that the ledger acknowledged. */
export const ACKNOWLEDGED = 'fleet:acknowledged'

/** Key: the generation and the timeline of the ledger that this host has joined. */
export const LEDGER = 'fleet:ledger'

/** Key: which receipts the ledger lacks, as `afterId settled`; absent if it lacks none. */
const UNSETTLED = 'fleet:unsettled'

/** `afterId`: the last content whose receipt was added; `settled`: the last batch that the ledger has, or -1 if all receipts are added. */
function parseUnsettled(text: string | undefined): { readonly afterId: number; readonly settled: bigint } | undefined {
  const [afterId, settled] = text?.split(' ') ?? []
  if (afterId === undefined || settled === undefined) return undefined
  return { afterId: Number(afterId), settled: BigInt(settled) }
}

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

/** Returns the outcome for the ledger, which records whether there is a remark, but not its text. */
function sharedOutcome({ outcome, ingestionNote }: Settlement): SharedOutcome {
  return outcome === 'searchable' && ingestionNote !== null ? 'remarked' : (outcome ?? 'pending')
}
