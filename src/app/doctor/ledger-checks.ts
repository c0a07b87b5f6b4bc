import { ShelfdError } from '../../foundation/errors.ts'
import { counted } from '../../foundation/text/safe-text.ts'
import { SCHEMA_VERSION } from '../../ledger/postgres/schema-version.ts'
import { ok, warning } from '../../rules/doctor-findings.ts'
import { DEFAULT_LEASE_MS } from '../../rules/lease.ts'
import { assessLedger } from '../../rules/ledger-findings.ts'
import { SESSION_KEY } from '../../store/tables/settlements.ts'
import { HOST_KEY } from '../../sync/fleet/host-session.ts'
import { ledgerAddress, openFleet } from '../open-fleet.ts'
import type { FleetSettings } from '../settings/settings.ts'
import type { Check, DoctorContext } from './doctor-context.ts'
import { findingOf, valueOrSkip } from './error-findings.ts'

export const ledger: Check = {
  name: 'ledger',
  run: async (context) => {
    const { fleet } = await valueOrSkip(context.settings(), 'configuration')
    if (!fleet) return []
    const { examineLedger } = await import('../../ledger/postgres/examine-ledger.ts')
    const { nowMs } = context.machine
    const facts = await examineLedger(ledgerAddress(fleet, context), nowMs, await findHost(context))
    const { host, database } = fleet.database
    const where = `"${database}" at ${host} answers in ${Math.round(facts.answersInMs)} ms`
    const leaseMs = fleet.leaseMs === DEFAULT_LEASE_MS ? undefined : fleet.leaseMs
    const found = assessLedger(facts, { schema: SCHEMA_VERSION, leaseMs, nowMs: nowMs() })
    if (!facts.ledger) return [ok(where), ...found]
    const { hosts, findings } = await checkHosts(fleet, context)
    return [ok(hosts === undefined ? where : `${where}, ${counted(hosts, 'host')}`), ...found, ...findings]
  },
}

async function findHost(context: DoctorContext) {
  const values = (await context.store().catch(() => undefined))?.keyValues
  const key = values?.get(HOST_KEY)
  const session = values?.get(SESSION_KEY)
  return key === undefined ? undefined : { key, session: session === undefined ? null : BigInt(session) }
}

/** Returns undefined for the number of hosts where they cannot be listed. */
async function checkHosts(fleet: FleetSettings, context: DoctorContext) {
  try {
    await using view = await openFleet(fleet, context)
    const [hosts, { secondSends }] = [await view.listHosts(), await view.readTotals()]
    const namesakes = hosts.filter(({ name }) => name === fleet.host).length
    const findings = [
      ...(secondSends > 0 ? [warning(`${counted(secondSends, 'file')} reached the service twice`)] : []),
      ...(namesakes > 1
        ? [warning(`${namesakes} hosts have the name "${fleet.host}"`, 'give each a name of its own: fleet.host')]
        : []),
    ]
    return { hosts: hosts.length, findings }
  } catch (error) {
    if (!(error instanceof ShelfdError)) throw error
    // The check of the role reports this.
    return { hosts: undefined, findings: error.code === 'ledger-refused' ? [] : [findingOf(error)] }
  }
}
