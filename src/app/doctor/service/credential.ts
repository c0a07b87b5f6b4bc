import { RefusedError } from '../../../foundation/errors.ts'
import { assessCredential } from '../../../rules/doctor/assess-rights.ts'
import type { Check } from '../check.ts'
import { Unchecked } from '../unchecked.ts'

const REFUSED: readonly string[] = ['credential-refused', 'right-missing']

/** Whether the service takes the credential, and who it belongs to. */
export const credential: Check = {
  name: 'credential',
  run: async (context) => {
    if (!(await context.service())) return []
    const { source } = await context.token()
    try {
      return assessCredential(await context.access(), source)
    } catch (error) {
      if (error instanceof RefusedError && REFUSED.includes(error.code)) throw error
      throw new Unchecked('service')
    }
  },
}
