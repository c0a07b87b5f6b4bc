/** The earlier failures of a content that is to be uploaded. */
interface TriedContent {
  /** Uploads of it that ended in doubt. */
  readonly doubts: number
  /** Times that it became a problem. */
  readonly problemCount: number
}

/** `first`: the content never failed. `last`: it did, so that it gets what others leave of a run's limits. */
export type UploadPriority = 'first' | 'last'

/** When a content is uploaded: those that keep failing must not use up a limit before others are tried once. */
export function uploadPriority({ doubts, problemCount }: TriedContent): UploadPriority {
  return doubts === 0 && problemCount === 0 ? 'first' : 'last'
}
