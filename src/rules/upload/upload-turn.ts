/** The earlier failures of a content that is to be uploaded. */
interface TriedContent {
  /** Uploads of it that ended in doubt. */
  readonly doubts: number
  /** Times that it became a problem. */
  readonly problemCount: number
}

/** `first`: the content never failed. `last`: it did, and gets the room that others leave under a run's limits. */
export type UploadTurn = 'first' | 'last'

/** When a content is uploaded: those that keep failing must not use up a limit before others are tried once. */
export function uploadTurn({ doubts, problemCount }: TriedContent): UploadTurn {
  return doubts === 0 && problemCount === 0 ? 'first' : 'last'
}
