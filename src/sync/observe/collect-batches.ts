import { emptyBatch, type ObservationBatch } from './observation.ts'

/** A batch is full at one of these numbers, so that results do not wait long and memory stays bounded. */
const BATCH_DIRECTORIES = 256
const BATCH_FILES = 512
const BATCH_BYTES = 64 * 2 ** 20

/** Holds the batch that a walk fills. */
export class BatchCollector {
  #batch = emptyBatch()

  get batch(): ObservationBatch {
    return this.#batch
  }

  get isFull(): boolean {
    const { directories, counts } = this.#batch
    return directories.length >= BATCH_DIRECTORIES || counts.hashed >= BATCH_FILES || counts.bytesHashed >= BATCH_BYTES
  }

  /** Returns the batch and starts a new one. */
  take(): ObservationBatch {
    const taken = this.#batch
    this.#batch = emptyBatch()
    return taken
  }
}
