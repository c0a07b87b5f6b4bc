/** Sends notices and remembers what was announced. `rules/notices.ts` decides whether to notify, and in which words. */
import { messageOf } from '../../foundation/errors.ts'
import { escapeText } from '../../foundation/text/safe-text.ts'
import {
  afterFailedNotice,
  decideNotice,
  describeNotice,
  NOTHING_ANNOUNCED,
  type NoticeMessage,
  type NoticeState,
  noticeState,
  type Situation,
} from '../../rules/notices.ts'
import type { Engine } from '../engine.ts'

export interface NoticePlan {
  readonly channels: readonly Channel[]
  /** After this time a mirror that is behind is worth a notice; null: never. */
  readonly overdueMs: number | null
  readonly host: string
}

type NoticeContext = Pick<Engine, 'store' | 'clock' | 'logger' | 'signal'>

const KEY = 'notices'
/** How often the times of mirrors that are up to date are stored within `overdueMs`. */
const STORED_TIMES = 24

/** Notifies people once of each failure and of its end, also across restarts, because the store keeps what was sent. */
export class Notifications implements AsyncDisposable {
  readonly #context: NoticeContext
  readonly #plan: NoticePlan
  #state: NoticeState
  #stored: NoticeState
  #updating: Promise<void> | undefined

  constructor(context: NoticeContext, plan: NoticePlan) {
    this.#context = context
    this.#plan = plan
    this.#state = readState(context)
    this.#stored = this.#state
  }

  /** Sends the notice that the situation requires, if none is being sent. Failures to send are warnings in the log. */
  async update(seen: Situation): Promise<void> {
    const { logger, signal } = this.#context
    if (this.#updating || signal.aborted) return
    this.#updating = this.#notify(seen)
      .catch((error: unknown) => logger.warn('cannot send notices', { reason: escapeText(messageOf(error)) }))
      .finally(() => {
        this.#updating = undefined
      })
    await this.#updating
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#updating
  }

  async #notify(seen: Situation): Promise<void> {
    const { clock, logger } = this.#context
    const before = this.#state
    const { state, notice } = decideNotice(before, seen, this.#plan.overdueMs)
    // The state is stored first, so that a crash while sending does not lead to a second notice.
    this.#remember(state)
    if (!notice) return
    const message = describeNotice(notice, { host: this.#plan.host, nowMs: seen.nowMs })
    const sent = await Promise.all(this.#plan.channels.map((channel) => this.#sendOver(channel, message)))
    if (sent.includes(true)) logger.info('a notice was sent', { subject: message.subject })
    else this.#remember(afterFailedNotice(before, state, clock.nowMs()))
  }

  /** Sends the message over one channel; returns false only if it surely did not arrive. */
  async #sendOver(channel: Channel, message: NoticeMessage): Promise<boolean> {
    const { logger, signal } = this.#context
    try {
      const delivery = await channel.send(message, signal)
      if (delivery.kind !== 'sent')
        logger.warn('cannot send a notice', { channel: channel.name, reason: delivery.reason })
      return delivery.kind !== 'not-sent'
    } catch (error) {
      logger.warn('cannot send a notice', { channel: channel.name, reason: escapeText(messageOf(error)) })
      return false
    }
  }

  #remember(state: NoticeState): void {
    this.#state = state
    const stepMs = (this.#plan.overdueMs ?? Number.POSITIVE_INFINITY) / STORED_TIMES
    if (!mustStore(this.#stored, state, stepMs)) return
    const { store, logger } = this.#context
    try {
      store.write(() => store.keyValues.set(KEY, JSON.stringify(state)))
      this.#stored = state
    } catch (error) {
      // The disk may be full, which is worth a notice itself: this process still remembers what it announced.
      logger.warn('cannot record a notice', { reason: escapeText(messageOf(error)) })
    }
  }
}

/** Returns what was announced; nothing if no state is stored, or one of another version. */
function readState({ store }: NoticeContext): NoticeState {
  try {
    const parsed: unknown = JSON.parse(store.keyValues.get(KEY) ?? '')
    return noticeState.safeParse(parsed).data ?? NOTHING_ANNOUNCED
  } catch {
    return NOTHING_ANNOUNCED
  }
}

/** Returns whether the state must be stored; if only times have advanced, one of them must have advanced by `stepMs`. */
function mustStore(stored: NoticeState, state: NoticeState, stepMs: number): boolean {
  const { upToDateAt: storedTimes, ...others } = stored
  const { upToDateAt: times, ...now } = state
  if (JSON.stringify(others) !== JSON.stringify(now)) return true
  const [before, after] = [new Map(Object.entries(storedTimes)), new Map(Object.entries(times))]
  return [...new Set([...before.keys(), ...after.keys()])].some((name) => {
    const [from, to] = [before.get(name), after.get(name)]
    return from === undefined || to === undefined || Math.abs(to - from) >= stepMs
  })
}

/** `doubt`: the message may have arrived. A reason contains no secret. */
export type Delivery = { readonly kind: 'sent' } | { readonly kind: 'not-sent' | 'doubt'; readonly reason: string }

export interface Channel {
  readonly name: string
  /** Tries once, within a time limit of its own. */
  send(message: NoticeMessage, signal: AbortSignal): Promise<Delivery>
}
