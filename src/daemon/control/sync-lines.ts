import { z } from 'zod'
import { fault } from '../../foundation/http/fault.ts'
import { runSummary } from '../../rules/sync-summary.ts'
import { runOutcomes } from '../../rules/verdict.ts'
import { progressShape } from '../../sync/progress.ts'
import { sentFile } from '../../sync/sinks.ts'

const runResponse = z.object({ summary: runSummary, outcome: z.enum(runOutcomes), failure: fault.nullable() })

/** A line of the answer to a sync: first `started`, then any number of `progress` and `sent`, then `result` or `error`. */
export const syncLine = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('started'), sync: z.string() }),
  z.object({ kind: z.literal('progress'), progress: progressShape }),
  z.object({ kind: z.literal('sent'), file: sentFile }),
  z.object({ kind: z.literal('result'), result: runResponse }),
  z.object({ kind: z.literal('error'), error: fault }),
])

export type RunResponse = z.infer<typeof runResponse>
export type SyncLine = z.infer<typeof syncLine>
