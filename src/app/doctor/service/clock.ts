import { assessClock } from '../../../rules/doctor/assess-clock.ts'
import type { Check } from '../check.ts'
import { given } from '../unchecked.ts'

/** Whether this computer's clock agrees with the service's. */
export const clock: Check = {
  name: 'clock',
  run: async (context) => {
    if (!(await context.service())) return []
    const { dateMs, receivedAtMs } = await given(context.firstAnswer(), 'service')
    return [assessClock(dateMs === undefined ? undefined : receivedAtMs - dateMs)]
  },
}
