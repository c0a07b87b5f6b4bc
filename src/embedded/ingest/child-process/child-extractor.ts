import type { Clock } from '../../../foundation/clock.ts'
import type { ExtractionEnd, ExtractionSink } from '../extract/extraction.ts'
import type { ChildDocument } from './child-messages.ts'
import { DocumentReader } from './document-reader.ts'
import type { ReaderSetup } from './reader-process.ts'

/** Extracts text in a child process, which starts when it is needed and ends when it has been idle for a while. */
export interface ChildExtractor {
  /**
   * Reads documents one after the other, in the order of the calls. Throws ChildEndedError when the process ended first, and
   * the error of the sink when that throws.
   */
  extract(document: ChildDocument, sink: ExtractionSink): Promise<ExtractionEnd>
  /** Ends the process at once; extractions under way fail with `reason`. */
  stop(reason: Error): Promise<void>
}

export function openChildExtractor(setup: ReaderSetup, clock: Clock): ChildExtractor {
  let reader: DocumentReader | undefined
  let stopReason: Error | undefined
  return {
    extract: async (document, sink) => {
      if (stopReason) throw stopReason
      if (!reader || reader.hasEnded) reader = new DocumentReader(setup, clock)
      return await reader.read(document, sink)
    },
    stop: async (reason) => {
      stopReason = reason
      await reader?.stop(reason)
    },
  }
}
