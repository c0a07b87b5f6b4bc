import { emptyBatch, type ObservationBatch } from './observation.ts'

/** A batch is handed on after so many directories, files or hashed bytes, so that nothing waits long and nothing grows. */
const BATCH_DIRECTORIES = 256
const BATCH_FILES = 512
const BATCH_BYTES = 64 * 2 ** 20

/** The batch that a walk fills, until it is full. */
export class BatchCollector {
  #batch = emptyBatch()

  get batch(): ObservationBatch {
    return this.#batch
  }

  get isFull(): boolean {
    const { directories, counts } = this.#batch
    return directories.length >= BATCH_DIRECTORIES || counts.hashed >= BATCH_FILES || counts.bytesHashed >= BATCH_BYTES
  }

  /** Gives the batch away and begins another. */
  take(): ObservationBatch {
    const taken = this.#batch
    this.#batch = emptyBatch()
    return taken
  }
}
