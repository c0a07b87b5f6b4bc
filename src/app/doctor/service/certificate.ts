import { TemporaryError } from '../../../foundation/errors.ts'
import { assessCertificate, assessClientCertificate } from '../../../rules/doctor/assess-certificate.ts'
import { ok } from '../../../rules/doctor/finding.ts'
import type { Check } from '../check.ts'
import type { DoctorContext } from '../doctor-context.ts'
import { given, Unchecked } from '../unchecked.ts'

/** Whether the service's certificate is trusted, and for how long; how long the client certificate is valid. */
export const certificate: Check = {
  name: 'certificate',
  run: async (context) => {
    if (!(await context.service())) return []
    await given(context.proxy(), 'proxy')
    const way = await context.way()
    if (!way) return [ok('none needed, the service is on this computer')]
    await given(context.probedProxy(), 'proxy')
    const nowMs = context.machine.nowMs()
    const untilMs = await readUntil(context)
    const own = way.clientCertificate && assessClientCertificate(way.clientCertificate.validToMs, nowMs)
    return [...(untilMs === undefined ? [] : [assessCertificate(untilMs, nowMs)]), ...(own ? [own] : [])]
  },
}

/** Throws Unchecked when the service cannot be reached at all. */
async function readUntil(context: DoctorContext): Promise<number | undefined> {
  try {
    return await context.certificateUntilMs()
  } catch (error) {
    throw error instanceof TemporaryError ? new Unchecked('service') : error
  }
}
