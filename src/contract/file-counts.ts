import { z } from 'zod'

const count = z.int().nonnegative().default(0)

/** How many files a mirror has in each state. `known` counts all files; each of them counts in exactly one other field. */
export const fileCounts = z.object({
  known: count,
  searchable: count,
  /** Stored, but without searchable text; not counted in `searchable`. */
  withoutText: count,
  inIngestion: count,
  toSend: count,
  sending: count,
  inDoubt: count,
  needAttention: count,
  /** Failed files that the user set aside, as `failed ignore` does. */
  setAside: count,
})

export type FileCounts = z.infer<typeof fileCounts>
