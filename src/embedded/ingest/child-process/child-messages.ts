import { z } from 'zod'
import { INGESTION_STATUSES } from '../../../contract/states.ts'
import { TRACE_UNITS, traceDetail } from '../../database/passages-table.ts'
import { TEXT_TYPES } from '../readers/extraction.ts'

export interface DocumentRequest {
  readonly kind: 'extract'
  readonly id: number
  readonly mimeType: string
  readonly charset: string | null
  readonly sizeBytes: number
  /** The bytes of a small document; otherwise the path for `streamContent`. */
  readonly content: Uint8Array | string
  readonly maxPassages: number
}

export type ChildDocument = Pick<DocumentRequest, 'mimeType' | 'charset' | 'sizeBytes' | 'content'>

/** The parent answers each piece but the last with `continue` (send the next one) or `drop` (send no more of this document). */
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
  /** True if the parent has to discard all earlier pieces of this document. */
  isRestart: z.boolean(),
  /** True if a part of the document is finished: the time limit of the document starts anew for the next part. */
  isPart: z.boolean(),
  passages: z.array(passage),
  /** How the extraction ended; only in the last piece. */
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
  /** Why this machine cannot read the document now; only in the last piece, instead of `end`. */
  machineFault: z.string().optional(),
})

export const childMessage = z.discriminatedUnion('kind', [readyMessage, pieceMessage])

export type ChildMessage = z.infer<typeof childMessage>
export type PieceMessage = z.infer<typeof pieceMessage>
