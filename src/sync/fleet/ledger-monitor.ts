import { z } from 'zod'
import type { Clock } from '../../foundation/clock.ts'
import { errorCodes, InterruptedError, ShelfdError } from '../../foundation/errors.ts'
import type { Logger } from '../../foundation/logger.ts'
import { counted } from '../../foundation/text/safe-text.ts'
import { formatTime } from '../../foundation/text/times.ts'
import { formatDuration } from '../../foundation/text/units.ts'
import { LedgerError } from '../../ledger/ledger.ts'
import type { LedgerCall } from '../../ledger/observe-ledger.ts'

const ledgerConnection = z.object({
  /** What the last call showed; `refused`: an operator must act. */
  state: z.enum(['unasked', 'connected', 'away', 'refused']),
  sinceMs: z.number(),
  reason: z.object({ code: z.enum(errorCodes), message: z.string() }).nullable(),
})

/** The state of this host's connection to the ledger. */
export const ledgerStatus = ledgerConnection.extend({
  /** How long this host may act without a renewed beat; 0 while it has no session. */
  leaseLeftMs: z.number(),
  unsettled: z.number(),
})

export type LedgerStatus = Readonly<z.infer<typeof ledgerStatus>>

type LedgerConnectionStatus = Readonly<z.infer<typeof ledgerConnection>>

/** Returns why the ledger does not answer, since when, and how many receipts wait; null while it answers. */
export function describeLedgerFailure(ledger: LedgerStatus | null, nowMs: number): string | null {
  if (!ledger?.reason) return null
  const { reason, sinceMs, unsettled } = ledger
  const waiting = unsettled === 0 ? '' : `, and ${counted(unsettled, 'receipt waits', 'receipts wait')}`
  return `${reason.message}; since ${formatTime(sinceMs, nowMs)} nothing new is sent${waiting}`
}

/** Derives from calls to the ledger whether it answers, and logs changes. */
export class LedgerMonitor {
  readonly #clock: Clock
  readonly #logger: Logger
  #connection: LedgerConnectionStatus

  constructor({ clock, logger }: { readonly clock: Clock; readonly logger: Logger }) {
    this.#clock = clock
    this.#logger = logger
    this.#connection = { state: 'unasked', sinceMs: clock.nowMs(), reason: null }
  }

  get connection(): LedgerConnectionStatus {
    return this.#connection
  }

  note({ error, durationMs }: Pick<LedgerCall, 'error' | 'durationMs'>): void {
    // A call that this host aborted says nothing about the ledger.
    if (error instanceof InterruptedError) return
    if (error instanceof ShelfdError) this.#noteFailure(error, durationMs)
    // What the ledger objects to is an answer, as a result is. Any other error is a fault of this program.
    else if ((error === undefined || error instanceof LedgerError) && this.#connection.state !== 'connected')
      this.#noteAnswer()
  }

  #noteFailure({ code, message, kind }: ShelfdError, durationMs: number): void {
    const state = kind === 'temporary' ? 'away' : 'refused'
    const isNew = this.#connection.state !== state
    const sinceMs = isNew ? Math.round(this.#clock.nowMs() - durationMs) : this.#connection.sinceMs
    this.#connection = { state, sinceMs, reason: { code, message } }
    if (isNew) this.#logger.warn(`${MESSAGES[state]}; nothing new is sent`, { reason: message })
  }

  #noteAnswer(): void {
    const { state, sinceMs } = this.#connection
    const nowMs = this.#clock.nowMs()
    this.#connection = { state: 'connected', sinceMs: nowMs, reason: null }
    if (state === 'unasked') return
    this.#logger.info('the ledger is back', { after: formatDuration(Math.max(0, nowMs - sinceMs)) })
  }
}

const MESSAGES = { away: 'the ledger is away', refused: 'the ledger refuses this host' }
