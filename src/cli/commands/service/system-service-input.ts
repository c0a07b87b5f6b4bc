import type { ManageInput } from '../../../app/service-manager/manage-service.ts'
import { manageOwnService } from '../../../app/service-manager/own-service.ts'
import type { ArgumentTable } from '../../command.ts'
import type { CommandContext } from '../../context.ts'

/** Options of all `service` commands. */
export const SERVICE_OPTIONS = {
  system: { type: 'boolean', describe: 'The service of the whole machine instead of your own (systemd)' },
} as const satisfies ArgumentTable

/** The service manager of this system, for the current user. */
export function toManageInput({ io, signal }: CommandContext, isSystem: boolean): ManageInput {
  return manageOwnService({ env: io.env, home: io.home, signal }, isSystem)
}
