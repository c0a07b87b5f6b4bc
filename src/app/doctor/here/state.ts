import { formatSize } from '../../../foundation/text/units.ts'
import { ok, warning } from '../../../rules/doctor/finding.ts'
import type { Check } from '../check.ts'

/** Whether the store is intact and complete. */
export const state: Check = {
  name: 'state',
  run: async (context) => {
    const examined = await context.examinedStore()
    if (!examined) return [ok(`nothing kept yet (${context.stateDir})`)]
    const text = `${examined.isRead ? 'intact' : 'opens, too large to be read at once'}, ${formatSize(examined.sizeBytes)}`
    if (examined.isOlder) return [ok(`${text}, of an older version: the next sync migrates it`)]
    const store = await context.store()
    if (!store?.mayLack()) return [ok(`${text} (${context.stateDir})`)]
    return [warning(`${text}, restored or copied: the next sync looks in the library for uploads that it lacks`)]
  },
}
