/** The decision to upload a content from a path; committed before the first byte leaves (P2). */
export interface Intent {
  readonly uploadId: number
  readonly contentId: number
  /** The content is stored already; this upload adds a location to its resource. */
  readonly isLink: boolean
  readonly directoryId: number
  readonly directory: string
  readonly name: string
  readonly path: string
  readonly sha256: Uint8Array
  readonly mime: string
  readonly sizeBytes: number
}
