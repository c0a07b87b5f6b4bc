import type { Clock } from '../../../foundation/clock.ts'
import type { ExtractionEnd, ExtractionSink } from '../extract/extract-text.ts'
import type { ExtractionLimits } from '../extraction-limits.ts'
import type { DocumentRequest } from './child-messages.ts'
import { DocumentReader } from './document-reader.ts'

/** A document to be read in the child process. */
export type ApartDocument = Pick<DocumentRequest, 'mimeType' | 'sizeBytes' | 'content'>

/** Gets text out of documents in a child process, which is started when needed and ended after a while without work. */
export interface ChildExtractor {
  /**
   * Documents are read one after the other, in the order of the calls. Throws ChildEndedError when the process ended first,
   * and what the sink throws.
   */
  extract(document: ApartDocument, sink: ExtractionSink): Promise<ExtractionEnd>
  /** Ends the process at once; what was under way fails with `reason`. */
  stop(reason: Error): Promise<void>
}

export function openChildExtractor(limits: ExtractionLimits, clock: Clock): ChildExtractor {
  let reader: DocumentReader | undefined
  let stopReason: Error | undefined
  return {
    extract: async (document, sink) => {
      if (stopReason) throw stopReason
      if (!reader || reader.hasEnded) reader = new DocumentReader(limits, clock)
      return await reader.read(document, sink)
    },
    stop: async (reason) => {
      stopReason = reason
      await reader?.stop(reason)
    },
  }
}
