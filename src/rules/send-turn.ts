/** What is known of a content when it is its turn to be sent. */
interface TriedContent {
  /** Uploads of it that ended in doubt. */
  readonly doubts: number
  /** Times that it became a problem. */
  readonly problemCount: number
}

/** `first`: it never failed. `last`: it did, and gets the room that the others leave under the limits of a run. */
export type SendTurn = 'first' | 'last'

/** When a content is sent: those that fail again and again must not use up what a limit allows before others are tried once. */
export function sendTurn({ doubts, problemCount }: TriedContent): SendTurn {
  return doubts === 0 && problemCount === 0 ? 'first' : 'last'
}
