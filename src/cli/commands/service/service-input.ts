import { userInfo } from 'node:os'
import type { ManageInput } from '../../../app/service-manager/manage-service.ts'
import { planService } from '../../../app/service-manager/plan-service.ts'
import { createRunner } from '../../../app/service-manager/run-program.ts'
import type { ArgumentTable } from '../../command.ts'
import type { CommandContext } from '../../context.ts'

/** Options of all `service` commands. */
export const SERVICE_OPTIONS = {
  system: { type: 'boolean', describe: 'The service of the whole machine instead of your own (systemd)' },
} as const satisfies ArgumentTable

/** The service manager of this system, for the current user. */
export function toManageInput({ io, signal }: CommandContext, isSystem: boolean): ManageInput {
  const { uid, username } = userInfo()
  const { env, home } = io
  const plan = planService({ platform: process.platform, isSystem, home, env, user: { uid, name: username } })
  return { plan, run: createRunner({ env, signal }) }
}
