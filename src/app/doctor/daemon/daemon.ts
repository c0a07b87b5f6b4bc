import { listFailingChecks } from '../../../daemon/health/readiness.ts'
import { errorCodes } from '../../../foundation/errors.ts'
import { assessMissingDaemon } from '../../../rules/doctor/assess-daemon.ts'
import { type Finding, failed, ok } from '../../../rules/doctor/finding.ts'
import { describeStatus } from '../../../sync/continuous/describe-status.ts'
import type { Check } from '../check.ts'
import type { DoctorContext } from '../doctor-context.ts'
import { isToBeSynced, rosterOf } from '../roster.ts'
import { given } from '../unchecked.ts'

/** Whether a daemon runs and can do its work. */
export const daemon: Check = {
  name: 'daemon',
  run: async (context) => {
    const client = await context.daemon()
    if (!client) return [await missing(context)]
    const status = await client.status()
    const failing = listFailingChecks(status).map(({ check, code, message }) => {
      return failed(`${check}: ${message}`, { code: errorCodes.find((known) => known === code) })
    })
    return failing.length > 0 ? failing : [ok(`running (process ${status.pid}), ${describeStatus(status)}`)]
  },
}

async function missing(context: DoctorContext): Promise<Finding> {
  const roster = (await given(rosterOf(context), 'mirrors')).filter(isToBeSynced)
  const scheduled = roster.filter(({ configured }) => configured?.schedule !== undefined)
  return assessMissingDaemon({ mirrors: roster.length, scheduled: scheduled.map(({ name }) => name) })
}
