import { assertOwnDirectory } from '../../../foundation/files/private-directory.ts'
import { ok, warning } from '../../../rules/doctor/finding.ts'
import { listExposed } from '../../files/exposed-files.ts'
import type { Check } from '../check.ts'
import { given } from '../unchecked.ts'

/** Whether only this user can read and change what shelfd keeps; the credential has a check of its own. */
export const permissions: Check = {
  name: 'permissions',
  run: async (context) => {
    const { service } = await given(context.settings(), 'configuration')
    const directories = [context.stateDir, ...(service.kind === 'embedded' ? [service.dataDir] : [])]
    for (const directory of directories) assertOwnDirectory(directory, { isReader: true })
    const exposed = directories.flatMap(listExposed)
    const findings = exposed.map(({ path, why, mend }) => warning(`"${path}": ${why}`, mend))
    return findings.length > 0 ? findings : [ok('nobody else can read or change what shelfd keeps')]
  },
}
