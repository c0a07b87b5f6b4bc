import { counted, shellWord } from '../../../foundation/text/safe-text.ts'
import { assessRights } from '../../../rules/doctor/assess-rights.ts'
import { type Finding, failed, ok } from '../../../rules/doctor/finding.ts'
import { mayUpload } from '../../../rules/mirrors.ts'
import { findLibrary } from '../../../sync/pin/find-library.ts'
import type { Check } from '../check.ts'
import type { DoctorContext } from '../doctor-context.ts'
import { given } from '../unchecked.ts'

/** Whether the credential may list, write and add to the library of each mirror. */
export const rights: Check = {
  name: 'rights',
  run: async (context) => {
    if (!(await context.service())) return []
    const access = await given(context.access(), 'credential')
    const { mirrors } = await context.settings()
    const wanted = [...new Set(mirrors.map(({ library }) => library))]
    if (wanted.length > 0) return Promise.all(wanted.map((name) => rightsOn(context, name)))
    const usable = access.libraries.filter((library) => mayUpload(library, access))
    return [ok(`may add to ${counted(usable.length, 'library', 'libraries')}`)]
  },
}

async function rightsOn(context: DoctorContext, name: string): Promise<Finding> {
  const access = await context.access()
  const library = await findLibrary({ client: await context.client(), access }, name, context.signal)
  if (library) return assessRights(library, access.abilities)
  const remedy = `shelfd libraries create ${shellWord(name)}`
  return failed(`there is no library "${name}", or the credential does not show it`, {
    code: 'unknown-library',
    remedy,
  })
}
