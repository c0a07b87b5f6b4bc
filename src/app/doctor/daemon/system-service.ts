import { UsageError } from '../../../foundation/errors.ts'
import { assessServiceState, type ServiceState } from '../../../rules/doctor/assess-daemon.ts'
import { type Finding, ok } from '../../../rules/doctor/finding.ts'
import { isThere } from '../../files/real-path.ts'
import { type ManageInput, showSystemService } from '../../system-service/manage-system-service.ts'
import { manageOwnSystemService } from '../../system-service/own-system-service.ts'
import type { Check } from '../check.ts'
import type { DoctorContext } from '../doctor-context.ts'

/** Whether the service manager keeps the daemon running, if the daemon is installed as a service. */
export const systemService: Check = {
  name: 'service manager',
  run: async (context) => {
    const managers = managersOf(context)
    const own = managers[0]
    if (!own) return [ok(`there is no known one on ${process.platform}`)]
    const installed = managers.filter(({ plan }) => isThere(plan.file))
    if (installed.length === 0) return [assessServiceState('not-installed', own.plan.file)]
    return Promise.all(installed.map(stateOf))
  },
}

async function stateOf(manager: ManageInput): Promise<Finding> {
  const state: ServiceState = (await showSystemService(manager, () => {})) ? 'running' : 'stopped'
  return assessServiceState(state, manager.plan.file)
}

/** The user's own and, where there is one, that of the whole machine. */
function managersOf(context: DoctorContext): ManageInput[] {
  return [false, true].flatMap((isSystem) => {
    try {
      return [manageOwnSystemService(context, isSystem)]
    } catch (error) {
      if (error instanceof UsageError) return []
      throw error
    }
  })
}
