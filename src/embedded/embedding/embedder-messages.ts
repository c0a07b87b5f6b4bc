import { z } from 'zod'

/** A text that the thread is to embed; `call` numbers the request. */
export const embedCall = z.object({ call: z.int(), text: z.string(), purpose: z.enum(['query', 'document']) })

/** The thread's answer to one call: null for a text that the model cannot judge. */
export const embedAnswered = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('embedded'), call: z.int(), vector: z.instanceof(Float32Array).nullable() }),
  z.object({ kind: z.literal('failed'), call: z.int(), error: z.string() }),
])

export type EmbedCall = z.infer<typeof embedCall>
export type EmbedAnswered = z.infer<typeof embedAnswered>
