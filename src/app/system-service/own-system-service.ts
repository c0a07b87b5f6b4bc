import { userInfo } from 'node:os'
import type { Environment } from '../settings/overrides.ts'
import type { ManageInput } from './manage-system-service.ts'
import { planSystemService } from './plan-system-service.ts'
import { createRunner } from './run-program.ts'

interface OwnSystemService {
  readonly env: Environment
  /** Home directory, absolute. */
  readonly home: string
  readonly signal: AbortSignal
}

/** The service manager of this system, for the current user. Throws UsageError('bad-usage') where there is none. */
export function manageOwnSystemService({ env, home, signal }: OwnSystemService, isSystem: boolean): ManageInput {
  const { uid, username } = userInfo()
  // After `su` and in jobs of cron it is missing, although the manager of a user with linger runs.
  const reachable = process.platform === 'linux' ? { XDG_RUNTIME_DIR: `/run/user/${uid}`, ...env } : env
  const plan = planSystemService({ platform: process.platform, isSystem, home, env, user: { uid, name: username } })
  return { plan, run: createRunner({ env: reachable, signal }) }
}
