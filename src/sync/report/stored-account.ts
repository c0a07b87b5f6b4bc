import { z } from 'zod'
import { heldBackShape } from '../../rules/limits.ts'
import type { RunRow } from '../../store/tables/runs.ts'

/** The parts of a run's account that are read again: each mirror's problems, what was sent, and what limits held back. */
const storedAccount = z.object({
  mirrors: z.array(
    z.object({
      name: z.string(),
      path: z.string(),
      problems: z.array(z.object({ path: z.string(), code: z.string(), message: z.string() })),
      // Older versions did not record it.
      uploads: z.object({
        created: z.number(),
        duplicates: z.number(),
        bytes: z.number(),
        heldBackBy: z.array(heldBackShape).prefault([]),
      }),
    }),
  ),
})

export type StoredMirror = z.infer<typeof storedAccount>['mirrors'][number]

/** Returns the mirrors of a run's account; none if the run is not finished or the account is damaged. */
export function readAccount({ summary }: Pick<RunRow, 'summary'>): StoredMirror[] {
  if (summary === null) return []
  try {
    return storedAccount.safeParse(JSON.parse(summary)).data?.mirrors ?? []
  } catch {
    return []
  }
}
