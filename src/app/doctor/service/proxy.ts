import { ok } from '../../../rules/doctor/finding.ts'
import type { Check } from '../check.ts'
import { given } from '../unchecked.ts'

/** Whether the proxy that the environment names lets through to the service. */
export const proxy: Check = {
  name: 'proxy',
  run: async (context) => {
    const service = await context.service()
    if (!service) return []
    const chosen = await context.proxy()
    if (!chosen) return [ok('none')]
    await given(context.way(), 'certificate')
    await context.probedProxy()
    return [ok(`${chosen.origin} (${chosen.variable}) lets through`)]
  },
}
