import { z } from 'zod'
import { INGESTION_STATUSES } from '../../../contract/states.ts'

/** One document for the child process: a small content itself, or the path of the file that holds it. */
export interface DocumentRequest {
  readonly kind: 'extract'
  readonly id: number
  readonly mimeType: string
  readonly sizeBytes: number
  readonly content: Uint8Array | string
  readonly maxPassages: number
}

/** After each piece but the last the child waits until it may send more of the document, or is to forget it. */
export type ChildRequest = DocumentRequest | { readonly kind: 'go-on' | 'drop'; readonly id: number }

const passage = z.object({
  text: z.string(),
  unit: z.enum(['line', 'row']),
  firstUnit: z.int(),
  lastUnit: z.int(),
})

const readyMessage = z.object({ kind: z.literal('ready') })

const pieceMessage = z.object({
  kind: z.literal('piece'),
  id: z.int(),
  /** What came of this document before is to be forgotten. */
  isRestart: z.boolean(),
  passages: z.array(passage),
  /** Absent until the document's last piece. */
  end: z
    .object({
      status: z.enum(INGESTION_STATUSES),
      warnings: z.array(z.string()),
      failure: z.string().nullable(),
    })
    .optional(),
})

export const childMessage = z.discriminatedUnion('kind', [readyMessage, pieceMessage])

export type ChildMessage = z.infer<typeof childMessage>
export type PieceMessage = z.infer<typeof pieceMessage>
