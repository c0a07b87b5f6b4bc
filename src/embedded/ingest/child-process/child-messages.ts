import { z } from 'zod'
import { INGESTION_STATUSES } from '../../../contract/states.ts'
import { TRACE_UNITS, traceDetail } from '../../database/passages-table.ts'
import { TEXT_TYPES } from '../readers/extraction.ts'

/** One document for the child process: its bytes when it is small, otherwise the path for `streamContent`. */
export interface DocumentRequest {
  readonly kind: 'extract'
  readonly id: number
  readonly mimeType: string
  readonly charset: string | null
  readonly sizeBytes: number
  readonly content: Uint8Array | string
  readonly maxPassages: number
}

/** A document for the child process. */
export type ChildDocument = Pick<DocumentRequest, 'mimeType' | 'charset' | 'sizeBytes' | 'content'>

/** After each piece but the last, the child waits until the parent answers `continue` (send the next piece) or `drop`. */
export type ChildRequest = DocumentRequest | { readonly kind: 'continue' | 'drop'; readonly id: number }

const passage = z.object({
  text: z.string(),
  unit: z.enum(TRACE_UNITS),
  firstUnit: z.int(),
  lastUnit: z.int(),
  detail: traceDetail.optional(),
})

const readyMessage = z.object({ kind: z.literal('ready') })

const pieceMessage = z.object({
  kind: z.literal('piece'),
  id: z.int(),
  /** The parent discards all earlier pieces of this document. */
  isRestart: z.boolean(),
  /** The next part of the document has the time limit of a whole one. */
  isPart: z.boolean(),
  passages: z.array(passage),
  /** Present in the last piece only. */
  end: z
    .object({
      status: z.enum(INGESTION_STATUSES),
      warnings: z.array(z.string()),
      failure: z.string().nullable(),
      textType: z.enum(TEXT_TYPES).optional(),
      properties: z.record(z.string(), z.union([z.string(), z.number()])).optional(),
      videoType: z.string().optional(),
    })
    .optional(),
  /** In place of `end`: why this machine cannot read the document now. */
  machineFault: z.string().optional(),
})

export const childMessage = z.discriminatedUnion('kind', [readyMessage, pieceMessage])

export type ChildMessage = z.infer<typeof childMessage>
export type PieceMessage = z.infer<typeof pieceMessage>
