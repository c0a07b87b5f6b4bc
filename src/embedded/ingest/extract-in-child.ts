import type { ResourceRow } from '../database/tables/resources.ts'
import { ChildEndedError } from './child-process/child-ended-error.ts'
import type { ChildExtractor } from './child-process/child-extractor.ts'
import type { ChildDocument } from './child-process/child-messages.ts'
import type { ExtractionEnd, ExtractionSink } from './extract/extraction.ts'
import type { PassageWriter } from './passage-writer.ts'

/**
 * Extracts the text of a document in the child process. If the process ends while it reads the document, the document is read
 * once more, also across a restart of the service. A document that exceeds its time, or ends the process twice, is `failed`.
 */
export async function extractInChild(
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
