import { withinTime } from '../../foundation/concurrency/within-time.ts'
import type { Finding } from '../../rules/doctor-findings.ts'
import { daemon, systemService } from './daemon-checks.ts'
import type { Check, DoctorContext } from './doctor-context.ts'
import { findingOf } from './error-findings.ts'
import { ledger } from './ledger-checks.ts'
import { configuration, disk, embedder, library, permissions, state } from './local-checks.ts'
import { mirrors, overlap, watches } from './mirror-checks.ts'
import { certificate, clock, credential, interfaceCheck, proxy, rights, service } from './service-checks.ts'

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

/** A check that throws or takes too long is a finding, and does not stop the others. */
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
