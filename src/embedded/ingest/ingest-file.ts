import Database from 'better-sqlite3'
import type { Clock } from '../../foundation/clock.ts'
import { InterruptedError, isOutOfResources, messageOf } from '../../foundation/errors.ts'
import type { Logger } from '../../foundation/logger.ts'
import type { Tables } from '../database/open-tables.ts'
import type { Passage } from '../database/passages-table.ts'
import type { IngestedColumns, ResourceRow } from '../database/resources-table.ts'
import type { FileStore } from '../storage/file-store.ts'
import type { WriteQueue } from '../storage/write-queue.ts'
import { MachineFaultError } from './child-process/document-reader.ts'
import type { ExtractionLimits } from './extraction-limits.ts'
import type { PassageWriter } from './passage-writer.ts'
import type { ExtractionEnd, ExtractionSink } from './readers/extraction.ts'

/** A resource without text is found by its title. */
export const NO_PASSAGE: Passage = { text: '', unit: 'line', firstUnit: 1, lastUnit: 1 }

/**
 * Takes one resource from its bytes to passages and its final state; returns false when the next stage has to. A fault of the file
 * ends the resource as `failed`. Throws only InterruptedError and faults of the database or the machine; a later pass then
 * ingests the resource again.
 */
export async function ingestFile(
  resource: ResourceRow,
  extract: (sink: ExtractionSink) => Promise<ExtractionEnd>,
  writer: PassageWriter,
): Promise<boolean> {
  let count = 0
  const restart = () => {
    writer.clear(resource)
    count = 0
  }
  const take = (passage: Passage) => {
    writer.add(resource, count, passage)
    count += 1
  }
  if (resource.status === 'running') restart()
  const end = await extract({ restart, take, drain: writer.drain, nextPart: writer.drain }).catch(explainFailure)
  if (end.status === 'running') return false
  if (end.status === 'failed') restart()
  if (count === 0) writer.add(resource, 0, NO_PASSAGE)
  writer.finish({ id: resource.id, ...ingestedColumns(resource.mimeType, end) })
  return true
}

/** Returns the columns of a resource that say how its ingestion ended. */
export function ingestedColumns(mimeType: string, end: ExtractionEnd): IngestedColumns {
  const { status, warnings, failure, textType, properties, videoType } = end
  return {
    status,
    failure,
    textType: textType ?? (mimeType === 'text/markdown' ? 'text/markdown' : 'text/plain'),
    warnings: JSON.stringify(warnings),
    properties: JSON.stringify(properties ?? {}),
    videoType: videoType ?? null,
  }
}

function explainFailure(error: unknown): ExtractionEnd {
  const isOfFile = !(error instanceof Database.SqliteError || error instanceof InterruptedError)
  if (!isOfFile || error instanceof MachineFaultError || isOutOfResources(error)) throw error
  return { status: 'failed', warnings: [], failure: messageOf(error) }
}

/** The parts of the service that ingestion uses. */
export interface IngestParts {
  readonly tables: Tables
  readonly writes: WriteQueue
  readonly files: FileStore
  readonly logger: Logger
  readonly clock: Clock
  readonly limits: ExtractionLimits
}
