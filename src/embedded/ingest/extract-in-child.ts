import type { ResourceRow } from '../database/tables/resources.ts'
import { ChildEndedError } from './child-process/child-ended-error.ts'
import type { ApartDocument, ChildExtractor } from './child-process/child-extractor.ts'
import type { ExtractionEnd, ExtractionSink } from './extract/extract-text.ts'
import type { PassageWriter } from './passage-writer.ts'

/**
 * Gets the text out of a document in the child process. A document in which the process ended is taken up once more, also
 * when the service was started anew in between; one that is over its time, or that ends the process again, is `failed`.
 */
export async function extractApart(
  extractor: ChildExtractor,
  resource: ResourceRow,
  document: ApartDocument,
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
      writer.noteFailure(resource, error.message)
      await writer.commit()
    }
  }
}
