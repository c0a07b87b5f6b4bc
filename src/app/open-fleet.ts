import { bootClock, systemClock } from '../foundation/clock.ts'
import { AccessError } from '../foundation/errors.ts'
import type { Logger } from '../foundation/logger.ts'
import { isLoopback } from '../foundation/network/loopback.ts'
import { version } from '../foundation/version.ts'
import type { FleetView } from '../ledger/fleet-view.ts'
import type { HostOrder } from '../ledger/ledger.ts'
import { type LedgerCall, observeLedger } from '../ledger/observe-ledger.ts'
import type { LedgerAddress } from '../ledger/postgres/address.ts'
import type { Published } from '../ledger/published.ts'
import { nodeFileSystem } from '../local/read/file-system.ts'
import { inspectRoot } from '../local/read/open-and-recheck-root.ts'
import { DEFAULT_RETRY } from '../rules/retry-delay.ts'
import type { Store } from '../store/open-store.ts'
import { ABSENT_KEY, SESSION_KEY } from '../store/tables/settlements.ts'
import type { FleetOptions } from '../sync/fleet/host-session.ts'
import { Membership } from '../sync/fleet/membership.ts'
import { pauseMirrors, resumeMirrors } from '../sync/operator/pause-mirrors.ts'
import { listForOverview } from './mirrors/mirror-roster.ts'
import { readAuthorities, readClientCertificate } from './service-client/certificates.ts'
import { readPassword } from './service-client/credential.ts'
import type { OpenServiceInput } from './service-client/open-service.ts'
import type { FleetSettings, Settings } from './settings/settings.ts'

type LedgerInput = Pick<OpenServiceInput, 'env' | 'cwd' | 'home' | 'redactor' | 'signal'> &
  Partial<Pick<OpenServiceInput, 'logger'>>

export type HostDuties = Pick<FleetOptions, 'readPublished' | 'onOrder'>

/** Longer than the ledger's functions wait for a lock. */
const CALL_TIMEOUT_MS = 25_000

const MAX_TOLD = 100

export interface MemberInput extends OpenServiceInput {
  readonly store: Store
  /** How a daemon publishes and carries out orders; undefined: as a single run does. */
  readonly hostDuties?: HostDuties
  readonly onLedgerCall?: (call: LedgerCall) => void
}

/** Undefined without a fleet in the settings. Connects with the first run. */
export function memberOf(
  settings: Settings,
  input: MemberInput,
  service: FleetOptions['service'],
): Membership | undefined {
  const { fleet, limits } = settings
  const { logger, signal, store } = input
  if (!fleet) {
    if (store.keyValues.get(SESSION_KEY) !== undefined) store.write(() => store.keyValues.set(ABSENT_KEY, 'true'))
    return undefined
  }
  const context = { store, logger, signal, clock: systemClock, random: Math.random }
  return new Membership(context, {
    connect: async (observe) => {
      const { postgresLedger } = await import('../ledger/postgres/postgres-ledger.ts')
      return observeLedger(postgresLedger(ledgerAddress(fleet, input)), systemClock.monotonicMs, (call) => {
        observe(call)
        input.onLedgerCall?.(call)
      })
    },
    name: fleet.host,
    version,
    place: placeOf(store.directory),
    limits: { newPerDay: limits.newPerDay },
    namesPaths: fleet.publish === 'names',
    service,
    bootMs: bootClock(),
    retry: { ...DEFAULT_RETRY, forMs: limits.retryForMs },
    readPublished: () => readHere(settings, fleet, store),
    onOrder: (order) => carryOutHere(store, logger, order),
    ...input.hostDuties,
  })
}

/** Differs for a copy of the state; undefined where the file system does not record creation times. */
function placeOf(stateDirectory: string): string | undefined {
  const { inode, birthNs, isBirthCertain } = inspectRoot(nodeFileSystem, stateDirectory)
  return birthNs !== null && isBirthCertain ? `${inode} ${birthNs}` : undefined
}

/** Reads in this process what the host publishes at the end of a run. */
async function readHere(settings: Settings, { publish }: FleetSettings, store: Store): Promise<Published> {
  const { readPublished } = await import('../sync/reading/read-published.ts')
  const listed = listForOverview(settings, store.mirrors.list())
  return readPublished(store, { daemon: null, listed, nowMs: systemClock.nowMs(), namesPaths: publish === 'names' })
}

/** Carries out what a run can: the next daemon finds the mirrors paused or resumed. */
function carryOutHere(store: Store, logger: Logger, { kind, mirror }: HostOrder): void {
  const names = mirror === null ? [] : [mirror]
  if (kind === 'pause') pauseMirrors(store, names)
  else if (kind === 'resume') resumeMirrors(store, names)
  else logger.warn('another host ordered a sync, and no daemon runs here that could do it', { mirror: mirror ?? 'all' })
}

export async function openFleet(fleet: FleetSettings, input: LedgerInput): Promise<FleetView> {
  const { openFleetView } = await import('../ledger/postgres/postgres-fleet-view.ts')
  return openFleetView(ledgerAddress(fleet, input))
}

/** The password is read at each connection, so that a changed one takes effect. */
export function ledgerAddress(fleet: FleetSettings, input: LedgerInput): LedgerAddress {
  const { host, port, database, user } = fleet.database
  const hasPassword = fleet.passwordFile !== undefined || fleet.passwordCommand !== undefined
  return {
    host,
    port,
    database,
    user,
    tls: tlsOf(fleet, input),
    callTimeoutMs: CALL_TIMEOUT_MS,
    signal: input.signal,
    onUnreadable: warnOnce(input.logger),
    ...(hasPassword && {
      password: async () => {
        const password = (await readPassword(fleet, input).catch(asRefusal)) ?? ''
        input.redactor.add(password)
        return password
      },
    }),
  }
}

/** The same row is read again and again, so it is reported once. */
function warnOnce(logger: Logger | undefined): (what: string, host: string) => void {
  const told = new Set<string>()
  return (what, host) => {
    if (told.has(`${what} ${host}`) || told.size > MAX_TOLD) return
    told.add(`${what} ${host}`)
    logger?.warn(`${what} of another host cannot be read, and is left out`, { host })
  }
}

/** Gives the error the code `ledger-refused`, so that a missing password stops only what needs the ledger. */
function asRefusal(error: unknown): never {
  if (!(error instanceof AccessError)) throw error
  throw new AccessError('ledger-refused', error.message, { cause: error })
}

/** A connection on this computer is encrypted only if the settings name authorities or a certificate. */
function tlsOf(
  { database, caFile, clientCertificate }: FleetSettings,
  { redactor }: LedgerInput,
): LedgerAddress['tls'] {
  const isHere = isLoopback(database.host) || database.host.startsWith('/')
  if (isHere && caFile === undefined && clientCertificate === undefined) return false
  const own = clientCertificate && readClientCertificate(clientCertificate, 'fleet', redactor)
  return {
    ...(caFile !== undefined && { ca: readAuthorities(caFile, 'fleet.caFile') }),
    ...(own && { cert: own.chain, key: own.key }),
  }
}
