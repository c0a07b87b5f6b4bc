import { z } from 'zod'
import { TRACE_UNITS } from '../database/passages.ts'

/** A search for the thread to run; `call` numbers it. */
export const searchCall = z.object({
  call: z.int(),
  query: z.string(),
  libraryIds: z.array(z.int()).optional(),
  limit: z.int(),
  passages: z.int(),
  meaning: z.object({ vector: z.instanceof(Float32Array), minSimilarity: z.number() }).optional(),
})

const passage = z.object({
  ordinal: z.int(),
  text: z.string(),
  unit: z.enum(TRACE_UNITS),
  firstUnit: z.int(),
  lastUnit: z.int(),
  detail: z.string().nullable(),
})
const matching = z.object({ passage, excerpt: z.string(), marks: z.array(z.tuple([z.int(), z.int()])) })
const hit = z.object({ resourceId: z.int(), first: passage.optional(), passages: z.array(matching).readonly() })
const correction = z.object({ written: z.string(), meant: z.array(z.string()).readonly() })

const searchResult = z.object({
  hits: z.array(hit).readonly(),
  matched: z.enum(['all', 'some']),
  corrections: z.array(correction).readonly(),
})

/** The thread's answer to one call. */
export const searchAnswered = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('found'), call: z.int(), result: searchResult }),
  z.object({ kind: z.literal('failed'), call: z.int(), error: z.string() }),
])

export type SearchCall = z.infer<typeof searchCall>
export type SearchAnswered = z.infer<typeof searchAnswered>
