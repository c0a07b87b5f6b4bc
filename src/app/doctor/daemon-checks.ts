import { listFailingChecks } from '../../daemon/health.ts'
import { errorCodes, UsageError } from '../../foundation/errors.ts'
import {
  assessMissingDaemon,
  assessServiceManager,
  type Finding,
  failed,
  type ManagerState,
  ok,
} from '../../rules/doctor-findings.ts'
import { describeStatus } from '../../sync/continuous/controller-status.ts'
import { isThere } from '../files/paths-on-disk.ts'
import { type ManageInput, manageOwnSystemService, showSystemService } from '../system-service/manage-system-service.ts'
import type { Check, DoctorContext } from './doctor-context.ts'
import { valueOrSkip } from './error-findings.ts'
import { isToBeSynced, rosterOf } from './mirror-checks.ts'

export const systemService: Check = {
  name: 'service manager',
  run: async (context) => {
    const [own, whole] = [findManager(context, false), findManager(context, true)]
    const installed = [own, whole].flatMap((found) =>
      typeof found !== 'string' && isThere(found.plan.file) ? found : [],
    )
    if (installed.length > 0) return Promise.all(installed.map(stateOf))
    return [typeof own === 'string' ? ok(own) : assessServiceManager('not-installed', own.plan.file)]
  },
}

async function stateOf(manager: ManageInput): Promise<Finding> {
  const state: ManagerState = (await showSystemService(manager, () => {})) ? 'running' : 'stopped'
  return assessServiceManager(state, manager.plan.file)
}

function findManager(context: DoctorContext, isSystem: boolean): ManageInput | string {
  try {
    return manageOwnSystemService(context, isSystem)
  } catch (error) {
    if (error instanceof UsageError) return error.message
    throw error
  }
}

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
  const roster = (await valueOrSkip(rosterOf(context), 'mirrors')).filter(isToBeSynced)
  const scheduled = roster.filter(({ configured }) => configured?.schedule !== undefined)
  return assessMissingDaemon({ mirrors: roster.length, scheduled: scheduled.map(({ name }) => name) })
}
