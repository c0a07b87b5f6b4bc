/** Buffers for the chunks of a large file, used again. */
export interface ChunkBuffers {
  /** A buffer of exactly `sizeBytes`, with any content. */
  take(sizeBytes: number): Uint8Array
  /** The reader no longer uses the buffer; its consumer has passed on the chunk, since it asked for another one. */
  giveBack(chunk: Uint8Array): void
}
