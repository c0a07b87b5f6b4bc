import { z } from 'zod'

const count = z.int().nonnegative().default(0)

/** Files of a mirror by state, each counted once beside `known`, which counts all. */
export const fileCounts = z.object({
  known: count,
  searchable: count,
  /** Stored without searchable text; none of them is `searchable`. */
  withoutText: count,
  inIngestion: count,
  toSend: count,
  sending: count,
  inDoubt: count,
  needAttention: count,
  /** Failed, and were set aside by `failed ignore`. */
  setAside: count,
})

export type FileCounts = z.infer<typeof fileCounts>
