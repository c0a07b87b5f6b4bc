import { RefusedError, TemporaryError } from '../../../foundation/errors.ts'
import { ok } from '../../../rules/doctor/finding.ts'
import type { Check } from '../check.ts'
import type { DoctorContext } from '../doctor-context.ts'
import { given, Unchecked } from '../unchecked.ts'

/** Whether a Knowledge Library Service answers at the address. */
export const service: Check = {
  name: 'service',
  run: async (context) => {
    const found = await context.service()
    if (!found) return []
    await given(context.probedProxy(), 'proxy')
    await assertTrusted(context)
    const { durationMs } = await context.firstAnswer()
    await assertUsable(context)
    return [ok(`${found.origin} answers in ${Math.round(durationMs)} ms`)]
  },
}

async function assertTrusted(context: DoctorContext): Promise<void> {
  const error: unknown = await context.certificateUntilMs().catch((thrown: unknown) => thrown)
  if (error instanceof RefusedError) throw new Unchecked('certificate')
}

/** Throws when what answers is busy, broken or something else, such as a login page; a refused credential is an answer. */
async function assertUsable(context: DoctorContext): Promise<void> {
  const error: unknown = await context.access().catch((thrown: unknown) => thrown)
  if (error instanceof TemporaryError) throw error
}
