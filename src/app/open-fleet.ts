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

/** Longer than the time for which the ledger's functions wait for a lock. */
const CALL_TIMEOUT_MS = 25_000

const MAX_REPORTED = 100

export interface MemberInput extends OpenServiceInput {
  readonly store: Store
  /** How a daemon publishes its state and carries out orders; undefined for a run without a daemon. */
  readonly hostDuties?: HostDuties
  readonly onLedgerCall?: (call: LedgerCall) => void
}

/** Returns this host's membership of the fleet, which connects at the first run; undefined if no fleet is configured. */
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

/** Returns a text that differs for a copy of the state directory; undefined if the file system does not record creation times. */
function placeOf(stateDirectory: string): string | undefined {
  const { inode, birthNs, isBirthCertain } = inspectRoot(nodeFileSystem, stateDirectory)
  return birthNs !== null && isBirthCertain ? `${inode} ${birthNs}` : undefined
}

/** Reads what this host publishes. This thread reads it, because a run without a daemon publishes only at its end. */
async function readHere(settings: Settings, { publish }: FleetSettings, store: Store): Promise<Published> {
  const { readPublished } = await import('../sync/reading/read-published.ts')
  const listed = listForOverview(settings, store.mirrors.list())
  return readPublished(store, { daemon: null, listed, nowMs: systemClock.nowMs(), namesPaths: publish === 'names' })
}

/** Carries out pause and resume, which only change the store; a sync needs a daemon. */
function carryOutHere(store: Store, logger: Logger, { kind, mirror }: HostOrder): void {
  const names = mirror === null ? [] : [mirror]
  if (kind === 'pause') pauseMirrors(store, names)
  else if (kind === 'resume') resumeMirrors(store, names)
  else logger.warn('another host ordered a sync, but no daemon runs here to carry it out', { mirror: mirror ?? 'all' })
}

export async function openFleet(fleet: FleetSettings, input: LedgerInput): Promise<FleetView> {
  const { openFleetView } = await import('../ledger/postgres/postgres-fleet-view.ts')
  return openFleetView(ledgerAddress(fleet, input))
}

/** Returns how to reach the ledger. The password is read for each connection, so that a changed one takes effect. */
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
        const password = (await readPassword(fleet, input).catch(throwAsRefused)) ?? ''
        input.redactor.add(password)
        return password
      },
    }),
  }
}

/** Returns a function that logs an unreadable row once, although the row is read again and again. */
function warnOnce(logger: Logger | undefined): (what: string, host: string) => void {
  const reported = new Set<string>()
  return (what, host) => {
    if (reported.has(`${what} ${host}`) || reported.size > MAX_REPORTED) return
    reported.add(`${what} ${host}`)
    logger?.warn(`${what} of another host cannot be read, and is left out`, { host })
  }
}

/** Throws an AccessError again with the code `ledger-refused`, so that a missing password stops only what needs the ledger. */
function throwAsRefused(error: unknown): never {
  if (!(error instanceof AccessError)) throw error
  throw new AccessError('ledger-refused', error.message, { cause: error })
}

/** Returns false (no TLS) for a ledger on this computer, unless the settings name authorities or a certificate. */
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
