import { z } from 'zod'
import { heldBackShape } from '../../rules/quota.ts'
import type { RunRow } from '../../store/runs.ts'

/** What is read again of a run's account: each mirror's problems, and what limits held back of it. */
const storedAccount = z.object({
  mirrors: z.array(
    z.object({
      name: z.string(),
      path: z.string(),
      problems: z.array(z.object({ path: z.string(), code: z.string(), message: z.string() })),
      // Older versions did not say.
      uploads: z.object({ heldBackBy: z.array(heldBackShape).prefault([]) }),
    }),
  ),
})

export type StoredMirror = z.infer<typeof storedAccount>['mirrors'][number]

/** The mirrors of a run's account; none for a run that is not finished. What a damaged disk changed says nothing. */
export function readAccount({ summary }: Pick<RunRow, 'summary'>): StoredMirror[] {
  if (summary === null) return []
  try {
    return storedAccount.safeParse(JSON.parse(summary)).data?.mirrors ?? []
  } catch {
    return []
  }
}
