import { counted } from '../../../foundation/text/safe-text.ts'
import { type Finding, ok } from '../../../rules/doctor/finding.ts'
import type { Check } from '../check.ts'

export const configuration: Check = {
  name: 'configuration',
  run: async (context) => {
    const { configFile, mirrors } = await context.settings()
    const origin = configFile ?? 'no file, the defaults hold'
    return [
      ok(`${origin}, ${mirrors.length === 0 ? 'no mirror' : counted(mirrors.length, 'mirror')}`),
    ] satisfies Finding[]
  },
}
