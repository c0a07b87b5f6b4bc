import { z } from 'zod'
import { describeHold, type HeldBack } from '../rules/quota.ts'
import type { StoreReader } from '../store/open-store.ts'

const heldBack = z.object({
  limit: z.enum(['newPerRun', 'newPerDay', 'newBytesPerRun', 'inIngestion']),
  value: z.number(),
  contents: z.number(),
  freesAt: z.string().nullable(),
}) satisfies z.ZodType<HeldBack>

/** The part of a run's summary that says what limits held back; summaries of older versions lack it. */
const summaryShape = z.object({
  mirrors: z.array(z.object({ name: z.string(), uploads: z.object({ heldBackBy: z.array(heldBack).prefault([]) }) })),
})

/** What limits held back when a mirror was passed over last, by the account of that run. */
function listHeldBack(store: StoreReader, mirror: { readonly id: number; readonly name: string }): HeldBack[] {
  const summary = store.runs.last(mirror.id)?.summary
  if (!summary) return []
  const parsed = summaryShape.safeParse(JSON.parse(summary))
  return parsed.data?.mirrors.find(({ name }) => name === mirror.name)?.uploads.heldBackBy ?? []
}

/** Why contents of a mirror wait, for people; null when no limit holds anything back. */
export function describeHeldBack(
  store: StoreReader,
  mirror: { readonly id: number; readonly name: string },
): string | null {
  return listHeldBack(store, mirror).map(describeHold).join('; ') || null
}
