import type { ResourceRow } from '../database/resources-table.ts'
import { MAX_SMALL_BYTES } from '../storage/content-receiver.ts'
import { readContent } from '../storage/file-store.ts'
import type { ChildDocument } from './child-process/child-messages.ts'
import { ChildEndedError, type ChildExtractor } from './child-process/document-reader.ts'
import { type IngestParts, ingestFile } from './ingest-file.ts'
import { createPassageWriter, type PassageWriter } from './passage-writer.ts'
import { extractInService } from './readers/extract-in-service.ts'
import type { ExtractionEnd, ExtractionSink } from './readers/extraction.ts'

/** The tools that a stage's loop gives to its work. */
export interface StageWork {
  readonly signal: AbortSignal
  /** Reports that a resource has its final state; if not, the next stage reads it. */
  settle(resource: ResourceRow, isDone: boolean): void
}

/**
 * Ingests one resource after the other; they share the transactions of one writer. All that is written of a resource is in one
 * transaction, so that none is ever seen as running.
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
 * Requests all documents at once, so that the child process always has the next one. Each has a writer of its own, so that a
 * failure of one leaves the others alone.
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
 * Extracts the text of a document in the child process. If the process ends while it reads the document, the document is read
 * once more, also across a restart of the service. A document that exceeds its time, or ends the process twice, is `failed`.
 */
async function extractInChild(
  extractor: ChildExtractor,
  resource: ResourceRow,
  document: ChildDocument,
  sink: ExtractionSink,
  writer: PassageWriter,
): Promise<ExtractionEnd> {
  let hasEndedOne = resource.failure !== null
  for (;;) {
    try {
      return await extractor.extract(document, sink)
    } catch (error) {
      if (!(error instanceof ChildEndedError)) throw error
      sink.restart()
      if (error.fate === 'bystander') continue
      if (error.fate === 'over-time' || hasEndedOne) return { status: 'failed', warnings: [], failure: error.message }
      hasEndedOne = true
      writer.recordFailure(resource, error.message)
      await writer.commit()
    }
  }
}
