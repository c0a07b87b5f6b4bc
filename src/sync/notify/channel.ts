import type { NoticeMessage } from '../../rules/notices.ts'

/** How an attempt to send ended. `doubt`: it may have arrived. Reasons hold no secret. */
export type Delivery = { readonly kind: 'sent' } | { readonly kind: 'not-sent' | 'doubt'; readonly reason: string }

/** A way to tell somebody. */
export interface Channel {
  /** For messages, without secrets: `webhook https://hooks.slack.com`. */
  readonly name: string
  /** Whether it gets signs of life, too, because their absence is noticed at the other end. */
  readonly wantsSignsOfLife: boolean
  /** Tries once, within a time limit of its own. */
  send(message: NoticeMessage, signal: AbortSignal): Promise<Delivery>
}
