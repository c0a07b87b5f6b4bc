import { AccessError, ShelfdError, TemporaryError } from '../../foundation/errors.ts'
import { counted, shellWord } from '../../foundation/text/safe-text.ts'
import { SCHEMA_VERSION } from '../../ledger/postgres/schema-version.ts'
import type { Capabilities } from '../../remote/service-client.ts'
import {
  assessCertificate,
  assessClientCertificate,
  assessClock,
  assessCredential,
  assessRights,
  type Finding,
  failed,
  ok,
  warning,
} from '../../rules/doctor-findings.ts'
import { DEFAULT_LEASE_MS } from '../../rules/lease.ts'
import { assessLedger } from '../../rules/ledger-findings.ts'
import { mayUpload } from '../../rules/mirror-activity.ts'
import { SESSION_KEY } from '../../store/tables/settlements.ts'
import { HOST_KEY } from '../../sync/fleet/host-session.ts'
import { findLibrary } from '../../sync/pin/pin-mirror.ts'
import { ledgerAddress, openFleet } from '../open-fleet.ts'
import type { FleetSettings } from '../settings/settings.ts'
import { type Check, type DoctorContext, findingOf, Unchecked, valueOrSkip } from './doctor-context.ts'

export const proxy: Check = {
  name: 'proxy',
  run: async (context) => {
    const service = await context.service()
    if (!service) return []
    const chosen = await context.proxy()
    if (!chosen) return [ok('none')]
    await valueOrSkip(context.route(), 'certificate')
    await context.probedProxy()
    return [ok(`connections pass through ${chosen.origin} (from ${chosen.variable})`)]
  },
}

/** Checks whether the service's certificate is trusted, and whether that one and the client's are valid now. */
export const certificate: Check = {
  name: 'certificate',
  run: async (context) => {
    if (!(await context.service())) return []
    await valueOrSkip(context.proxy(), 'proxy')
    const route = await context.route()
    if (!route) return [ok('none needed, the service is on this computer')]
    await valueOrSkip(context.probedProxy(), 'proxy')
    const nowMs = context.machine.nowMs()
    const expiresAtMs = await readExpiry(context)
    const own = route.clientCertificate && assessClientCertificate(route.clientCertificate.validToMs, nowMs)
    return [...(expiresAtMs === undefined ? [] : [assessCertificate(expiresAtMs, nowMs)]), ...(own ? [own] : [])]
  },
}

async function readExpiry(context: DoctorContext): Promise<number | undefined> {
  try {
    return await context.certificateExpiresAtMs()
  } catch (error) {
    throw error instanceof TemporaryError ? new Unchecked('service') : error
  }
}

export const service: Check = {
  name: 'service',
  run: async (context) => {
    const found = await context.service()
    if (!found) return []
    await valueOrSkip(context.probedProxy(), 'proxy')
    await assertTrusted(context)
    const { durationMs } = await context.firstResponse()
    await assertUsable(context)
    return [ok(`${found.origin} answers in ${Math.round(durationMs)} ms`)]
  },
}

async function assertTrusted(context: DoctorContext): Promise<void> {
  const error: unknown = await context.certificateExpiresAtMs().catch((thrown: unknown) => thrown)
  if (error instanceof AccessError) throw new Unchecked('certificate')
}

/** Throws unless a working service answers; a refused credential counts as an answer. */
async function assertUsable(context: DoctorContext): Promise<void> {
  const error: unknown = await context.access().catch((thrown: unknown) => thrown)
  if (error instanceof TemporaryError) throw error
}

const REFUSED: readonly string[] = ['credential-refused', 'right-missing']

export const credential: Check = {
  name: 'credential',
  run: async (context) => {
    if (!(await context.service())) return []
    const { source } = await context.token()
    try {
      return assessCredential(await context.access(), source)
    } catch (error) {
      if (error instanceof AccessError && REFUSED.includes(error.code)) throw error
      throw new Unchecked('service')
    }
  },
}

export const rights: Check = {
  name: 'rights',
  run: async (context) => {
    if (!(await context.service())) return []
    const access = await valueOrSkip(context.access(), 'credential')
    const { mirrors } = await context.settings()
    const wanted = [...new Set(mirrors.map(({ library }) => library))]
    if (wanted.length > 0) return Promise.all(wanted.map((name) => checkRights(context, name)))
    const usable = access.libraries.filter((library) => mayUpload(library, access))
    return [ok(`may add to ${counted(usable.length, 'library', 'libraries')}`)]
  },
}

async function checkRights(context: DoctorContext, name: string): Promise<Finding> {
  const access = await context.access()
  const library = await findLibrary({ client: await context.client(), access }, name, context.signal)
  if (library) return assessRights(library, access.abilities)
  const remedy = `shelfd libraries create ${shellWord(name)}`
  return failed(`there is no library "${name}", or the credential does not show it`, {
    code: 'unknown-library',
    remedy,
  })
}

export const interfaceCheck: Check = {
  name: 'interface',
  run: async (context) => {
    if (!(await context.service())) return []
    await valueOrSkip(context.access(), 'credential')
    const capabilities = await (await context.client()).capabilities(context.signal)
    const { undescribed, describedVersion } = capabilities
    const fields = describeFields(capabilities)
    if (undescribed === null)
      return [
        warning(
          `the instance shows no OpenAPI; ${fields}`,
          'if the instance names fields of requests differently, set them in the section "contract"',
        ),
      ]
    if (undescribed.length === 0) return [ok(`version ${describedVersion ?? 'unknown'}; ${fields}`)]
    return [warning(`the instance's OpenAPI lacks ${undescribed.join(', ')}, which shelfd needs; ${fields}`)]
  },
}

function describeFields({ createDirectory, createLibrary, uploadDirectoryField }: Capabilities): string {
  const directory =
    createDirectory.kind === 'path'
      ? createDirectory.field
      : `${createDirectory.nameField} + ${createDirectory.parentField}`
  const library = [createLibrary.nameField, createLibrary.overviewField]
    .filter((name) => name !== undefined)
    .join(' + ')
  const landing =
    uploadDirectoryField.field === undefined ? 'uploads land in .inbox' : `upload: ${uploadDirectoryField.field}`
  return [
    `directory: ${directory} (${createDirectory.source})`,
    `library: ${library} (${createLibrary.source})`,
    `${landing} (${uploadDirectoryField.source})`,
  ].join(', ')
}

export const clock: Check = {
  name: 'clock',
  run: async (context) => {
    if (!(await context.service())) return []
    const { dateMs, receivedAtMs } = await valueOrSkip(context.firstResponse(), 'service')
    return [assessClock(dateMs === undefined ? undefined : receivedAtMs - dateMs)]
  },
}

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

/** Returns findings about the hosts, and how many there are; `hosts` is undefined if they cannot be listed. */
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
    // `assessLedger` reports a refused role already.
    return { hosts: undefined, findings: error.code === 'ledger-refused' ? [] : [findingOf(error)] }
  }
}
