import { UsageError } from '../../foundation/errors.ts'
import { planLaunchd } from './plan-launchd.ts'
import { planSystemd } from './plan-systemd.ts'
import { planTask } from './plan-task.ts'
import type { PlanInput, SystemServicePlan } from './system-service-plan.ts'

/** The plan for the service manager of this system. Throws UsageError('bad-usage') where there is none. */
export function planSystemService(input: PlanInput): SystemServicePlan {
  const { platform, isSystem } = input
  if (platform === 'linux') return planSystemd(input)
  if (isSystem)
    throw new UsageError('bad-usage', 'Cannot install a service for the whole machine: --system is for systemd')
  if (platform === 'darwin') return planLaunchd(input)
  if (platform === 'win32') return planTask(input)
  const message = `Cannot install a service: there is no known service manager on ${platform}; start "shelfd daemon" yourself`
  throw new UsageError('bad-usage', message)
}
