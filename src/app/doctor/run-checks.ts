import { withinTime } from '../../foundation/concurrency/waits.ts'
import type { Finding } from '../../rules/doctor-findings.ts'
import { type Check, type DoctorContext, findingOf } from './doctor-context.ts'
import { configuration, daemon, disk, embedder, library, permissions, state, systemService } from './local-checks.ts'
import { mirrors, overlap, watches } from './mirror-checks.ts'
import {
  certificate,
  clock,
  credential,
  interfaceCheck,
  ledger,
  proxy,
  rights,
  service,
} from './service-and-ledger-checks.ts'

export const CHECKS: readonly Check[] = [
  configuration,
  permissions,
  mirrors,
  overlap,
  proxy,
  certificate,
  service,
  credential,
  rights,
  interfaceCheck,
  clock,
  ledger,
  state,
  library,
  embedder,
  disk,
  watches,
  systemService,
  daemon,
]

export interface Checked extends Finding {
  readonly check: string
}

/** Runs the checks one after the other. A check that throws or takes too long gives a finding, and the next one runs. */
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
