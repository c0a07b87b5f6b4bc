import type { ManageInput } from '../../../app/system-service/manage-system-service.ts'
import { manageOwnSystemService } from '../../../app/system-service/own-system-service.ts'
import type { ArgumentTable } from '../../command.ts'
import type { CommandContext } from '../../context.ts'

/** Options of all `service` commands. */
export const SERVICE_OPTIONS = {
  system: { type: 'boolean', describe: 'The service of the whole machine instead of your own (systemd)' },
} as const satisfies ArgumentTable

/** The service manager of this system, for the current user. */
export function toManageInput({ io, signal }: CommandContext, isSystem: boolean): ManageInput {
  return manageOwnSystemService({ env: io.env, home: io.home, signal }, isSystem)
}
