import Database from 'better-sqlite3'
import type { Clock } from '../../foundation/clock.ts'
import { InterruptedError, isOutOfResources, messageOf } from '../../foundation/errors.ts'
import type { Logger } from '../../foundation/logger.ts'
import type { Tables } from '../database/open-tables.ts'
import type { Passage } from '../database/passages-table.ts'
import type { IngestedColumns, ResourceRow } from '../database/resources-table.ts'
import { MAX_SMALL_BYTES } from '../storage/content-receiver.ts'
import { type FileStore, readContent } from '../storage/file-store.ts'
import type { IngestedText } from '../storage/record-upload.ts'
import type { WriteQueue } from '../storage/write-queue.ts'
import type { ChildDocument } from './child-process/child-messages.ts'
import { ChildEndedError, type ChildExtractor, MachineFaultError } from './child-process/document-reader.ts'
import type { ExtractionLimits } from './extraction-limits.ts'
import { createPassageWriter, createPositionFinder, type PassageWriter } from './passage-writer.ts'
import { kindOf } from './readers/content-kind.ts'
import type { ExtractionEnd, ExtractionSink } from './readers/extraction.ts'
import { extractInService } from './readers/text.ts'

/** The parts of the service that ingestion uses. */
export interface IngestParts {
  readonly tables: Tables
  readonly writes: WriteQueue
  readonly files: FileStore
  readonly logger: Logger
  readonly clock: Clock
  readonly limits: ExtractionLimits
}

/**
 * The process that reads a document: the service itself, a child process, or the child process of low priority that also recognizes
 * text in pictures. Each stage has a loop of its own, so that no stage waits for another.
 */
export type ReadingStage = 'service' | 'child' | 'recognizer'

/** The stage that reads the documents that a stage could not read; undefined after the last one. */
export const NEXT_STAGE = { service: 'child', child: 'recognizer', recognizer: undefined } as const satisfies Record<
  ReadingStage,
  ReadingStage | undefined
>

/**
 * Returns the stage that reads a document first. The service itself handles small plain text, whose cost is bounded, and kinds without
 * text. Child processes read all other documents, because a parser may take long or crash.
 */
export function firstStage({ mimeType, sizeBytes }: Pick<ResourceRow, 'mimeType' | 'sizeBytes'>): ReadingStage {
  const kind = kindOf(mimeType)
  if (kind === 'picture') return 'recognizer'
  const isSmallText = (kind === 'text' || kind === 'unknown') && sizeBytes <= MAX_SMALL_BYTES
  return kind === 'other' || kind === 'unsupported' || isSmallText ? 'service' : 'child'
}

/** What the loop of a stage passes to the function that ingests a batch. */
export interface StageWork {
  readonly signal: AbortSignal
  /** Reports that this stage has read a resource: `isDone` if it has its final state, otherwise the next stage reads it. */
  settle(resource: ResourceRow, isDone: boolean): void
}

/**
 * Ingests the resources of a batch one after the other, in shared transactions. Everything that is written about a resource is in one
 * transaction, so that no reader sees it as `running`.
 */
export async function ingestInProcess(
  { tables, writes, files, limits }: IngestParts,
  batch: readonly ResourceRow[],
  { signal, settle }: StageWork,
): Promise<void> {
  const writer = createPassageWriter(writes, tables, signal)
  for (const resource of batch) {
    const chunks = () => {
      const content = readContent(tables, files, resource)
      return Buffer.isBuffer(content) ? [content] : content
    }
    const extract = (sink: ExtractionSink) =>
      extractInService({ ...resource, chunks }, { ...sink, drain: () => {} }, limits.maxPassages)
    settle(resource, await ingestFile(resource, extract, writer))
    await writer.drain()
  }
  await writer.commit()
}

/**
 * Sends all documents of a batch to the child process at once, so that it never waits for the next one. Each document has a writer of
 * its own, so that its failure does not affect the others.
 */
export async function ingestInChild(
  { tables, writes, files }: IngestParts,
  extractor: ChildExtractor,
  batch: readonly ResourceRow[],
  { signal, settle }: StageWork,
): Promise<void> {
  const ingestOne = async (resource: ResourceRow) => {
    const writer = createPassageWriter(writes, tables, signal)
    const { mimeType, charset, sizeBytes } = resource
    const document = (): ChildDocument => {
      const isSmall = sizeBytes <= MAX_SMALL_BYTES
      const content = isSmall ? tables.smallContents.read(resource.id) : files.pathOf(resource.sha256)
      if (content === undefined) throw new Error(`The content of resource ${resource.publicId} is missing`)
      return { mimeType, charset, sizeBytes, content }
    }
    const extract = async (sink: ExtractionSink) => extractInChild(extractor, resource, document(), sink, writer)
    const isDone = await ingestFile(resource, extract, writer)
    await writer.commit()
    settle(resource, isDone)
  }
  await writes.write(() => {
    for (const { id, status } of batch) if (status !== 'running') tables.resources.start(id)
  })
  const ended = await Promise.allSettled(batch.map(ingestOne))
  for (const one of ended) if (one.status === 'rejected') throw one.reason
}

/**
 * Extracts the text of a document in the child process. If the process ends while it reads the document, the document is read once
 * more; a restart of the service does not reset this count. A document that exceeds its time, or ends the process twice, is `failed`.
 */
async function extractInChild(
  extractor: ChildExtractor,
  resource: ResourceRow,
  document: ChildDocument,
  sink: ExtractionSink,
  writer: PassageWriter,
): Promise<ExtractionEnd> {
  let hasEndedOnce = resource.failure !== null
  for (;;) {
    try {
      return await extractor.extract(document, sink)
    } catch (error) {
      if (!(error instanceof ChildEndedError)) throw error
      sink.restart()
      if (error.fate === 'bystander') continue
      if (error.fate === 'over-time' || hasEndedOnce) return { status: 'failed', warnings: [], failure: error.message }
      hasEndedOnce = true
      writer.recordFailure(resource, error.message)
      await writer.commit()
    }
  }
}

/**
 * Writes the passages and the final state of one resource; returns false if the next stage has to read it. If the file is at fault, the
 * state is `failed`. Throws InterruptedError and faults of the database or the machine; the resource is then ingested again later.
 */
async function ingestFile(
  resource: ResourceRow,
  extract: (sink: ExtractionSink) => Promise<ExtractionEnd>,
  writer: PassageWriter,
): Promise<boolean> {
  let count = 0
  const restart = () => {
    writer.clear(resource)
    count = 0
  }
  const emit = (passage: Passage) => {
    writer.add(resource, count, passage)
    count += 1
  }
  if (resource.status === 'running') restart()
  const end = await extract({ restart, emit, drain: writer.drain, nextPart: writer.drain }).catch(explainFailure)
  if (end.status === 'running') return false
  if (end.status === 'failed') restart()
  if (count === 0) writer.add(resource, 0, NO_PASSAGE)
  writer.finish({ id: resource.id, ...ingestedColumns(resource.mimeType, end) })
  return true
}

/** Returns the end of a document whose extraction threw because of its file; throws any other error again. */
function explainFailure(error: unknown): ExtractionEnd {
  const isOfFile = !(error instanceof Database.SqliteError || error instanceof InterruptedError)
  if (!isOfFile || error instanceof MachineFaultError || isOutOfResources(error)) throw error
  return { status: 'failed', warnings: [], failure: messageOf(error) }
}

/** A small file that is not recorded yet. */
export interface SmallUpload {
  readonly title: string
  readonly mimeType: string
  readonly charset?: string | null | undefined
  readonly content: { readonly bytes: Buffer; readonly sizeBytes: number }
}

/** Preparing this much text for the search takes 2 to 3 ms, during which the service answers no other request. */
const MAX_BYTES_AT_ONCE = 16 * 1024

/**
 * Reads a text of at most MAX_BYTES_AT_ONCE and prepares it for the search, so that one transaction both records it and makes it
 * searchable. Returns undefined for any other file and for one that cannot be read as plain text: the queue reads them.
 */
export async function readAtOnce(
  { tables, limits }: IngestParts,
  { title, mimeType, charset, content }: SmallUpload,
): Promise<IngestedText | undefined> {
  const { bytes, sizeBytes } = content
  if (sizeBytes > MAX_BYTES_AT_ONCE || firstStage({ mimeType, sizeBytes }) !== 'service') return undefined
  const passages: Passage[] = []
  const sink = {
    restart: () => void passages.splice(0),
    emit: (passage: Passage) => void passages.push(passage),
    drain: () => {},
    nextPart: () => {},
  }
  const source = { mimeType, charset, sizeBytes, chunks: () => [bytes] }
  const end = await extractInService(source, sink, limits.maxPassages).catch(() => undefined)
  if (end === undefined || end.status === 'running') return undefined
  const { indexWords } = await import('../analysis/index-words.ts')
  const positionOf = createPositionFinder((_, offset, length) => bytes.subarray(offset, offset + length))
  const written = (passages.length > 0 ? passages : [NO_PASSAGE]).map((passage, ordinal) => ({
    passage,
    position: positionOf(0, passage.text),
    words: indexWords(ordinal === 0 ? title : '', passage.text, ordinal === 0),
  }))
  return {
    columns: ingestedColumns(mimeType, end),
    writePassages: ({ id, libraryId }) => {
      for (const [ordinal, { passage, position, words }] of written.entries()) {
        tables.passageWords.insert(tables.passages.insert(id, ordinal, passage, position), libraryId, words)
      }
    },
  }
}

/** The only passage of a resource without text; the title of the resource is indexed with it. */
const NO_PASSAGE: Passage = { text: '', unit: 'line', firstUnit: 1, lastUnit: 1 }

/** Returns the columns of a resource that say how its ingestion ended. */
function ingestedColumns(mimeType: string, end: ExtractionEnd): IngestedColumns {
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
