import { assessWatches } from '../../../rules/doctor/assess-watches.ts'
import type { Check } from '../check.ts'
import type { DoctorContext } from '../doctor-context.ts'
import { isToBeSynced, rosterOf } from '../roster.ts'
import { given } from '../unchecked.ts'

/** Whether the system lets a daemon watch all directories; only Linux has such a limit. */
export const watches: Check = {
  name: 'watches',
  run: async (context) => {
    const use = context.machine.countWatches()
    if (!use) return []
    const daemon = await context.daemon().catch(() => undefined)
    return [assessWatches(use, { directories: await countDirectories(context), isWatching: daemon !== undefined })]
  },
}

/** Directories of the watched mirrors as of their last scans. */
async function countDirectories(context: DoctorContext): Promise<number> {
  const store = await given(context.store(), 'state')
  const watched = (await given(rosterOf(context), 'mirrors')).filter(
    (entry) => isToBeSynced(entry) && entry.configured?.watch !== false,
  )
  const counts = watched.map(({ row }) => (row && store ? store.directories.countBelow(row.id, '') + 1 : 0))
  return counts.reduce((sum, count) => sum + count, 0)
}
