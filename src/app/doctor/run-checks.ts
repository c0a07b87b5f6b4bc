import { withinTime } from '../../foundation/concurrency/within-time.ts'
import type { Finding } from '../../rules/doctor/finding.ts'
import type { Check } from './check.ts'
import type { DoctorContext } from './doctor-context.ts'
import { findingOf } from './finding-of.ts'

/** A finding and the check that it is of. */
export interface Checked extends Finding {
  readonly check: string
}

/** Runs the checks one after the other; one that throws or takes too long is a finding and does not stop the others. */
export async function* runChecks(checks: readonly Check[], context: DoctorContext): AsyncGenerator<Checked> {
  for (const check of checks) {
    context.signal.throwIfAborted()
    for (const finding of await runCheck(check, context)) yield { check: check.name, ...finding }
  }
}

async function runCheck(check: Check, context: DoctorContext): Promise<readonly Finding[]> {
  try {
    return await withinTime(check.run(context), context.limitMs)
  } catch (error) {
    context.signal.throwIfAborted()
    return [findingOf(error)]
  }
}
