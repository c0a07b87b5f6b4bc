import type { Clock } from '../../foundation/clock.ts'
import type { Logger } from '../../foundation/logger.ts'
import type { Tables } from '../database/open-tables.ts'
import type { FileStore } from '../storage/file-store.ts'
import type { WriteQueue } from '../storage/write-queue.ts'
import type { ExtractionLimits } from './extraction-limits.ts'

/** What ingestion works with. */
export interface IngestParts {
  readonly tables: Tables
  readonly writes: WriteQueue
  readonly files: FileStore
  readonly logger: Logger
  readonly clock: Clock
  readonly limits: ExtractionLimits
}
