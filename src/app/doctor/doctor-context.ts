import { connectToDaemon } from '../../daemon/control/client/connect-to-daemon.ts'
import { systemClock } from '../../foundation/clock.ts'
import { withinTime } from '../../foundation/concurrency/waits.ts'
import { messageOf, ShelfdError } from '../../foundation/errors.ts'
import { freeBytesOf } from '../../foundation/files/free-bytes.ts'
import { silentLogger } from '../../foundation/logger.ts'
import type { Redactor } from '../../foundation/text/redaction.ts'
import { countWatches } from '../../local/watch/watch-limit.ts'
import { type ProbedRoute, probeCertificate, probeProxy } from '../../remote/wire/probe-route.ts'
import { type Finding, failed, type WatchUse } from '../../rules/doctor-findings.ts'
import { checkStore, openStoreReader } from '../../store/open-store.ts'
import { remedyFor } from '../hints-and-remedies.ts'
import { type FoundToken, readToken } from '../service-client/credential.ts'
import { findConnectOptions, findProxy, openService } from '../service-client/open-service.ts'
import { findStateDir, type SettingsInput } from '../settings/read-settings.ts'
import type { ConfiguredServiceSettings, Settings } from '../settings/settings.ts'

interface DoctorInput extends SettingsInput {
  readonly redactor: Redactor
  readonly signal: AbortSignal
  readonly machine: Machine
  readonly limitMs: number
  readSettings(): Settings
}

export interface Machine {
  nowMs(): number
  freeBytes(directory: string): number
  countWatches(): WatchUse | undefined
}

export const thisMachine: Machine = {
  nowMs: () => Date.now(),
  freeBytes: freeBytesOf,
  countWatches: () => countWatches(),
}

export type DoctorContext = ReturnType<typeof openDoctorContext>

export interface Check {
  readonly name: string
  /** Returns no findings if there is nothing to check. */
  run(context: DoctorContext): Promise<readonly Finding[]>
}

/** Sent if there is no credential, because an answer of 401 also shows that the service can be reached. */
const NO_TOKEN: FoundToken = { token: 'no-token', source: 'nowhere' }

/** Returns the values that checks share; each is determined once, at its first use. Those of a service throw if none is configured. */
export function openDoctorContext(input: DoctorInput) {
  const { signal, limitMs, machine } = input
  const stateDir = findStateDir(input)
  const opened = new AsyncDisposableStack()
  const once = <T>(find: () => Promise<T>): (() => Promise<T>) => {
    let found: Promise<T> | undefined
    return () => {
      found ??= withinTime(find(), limitMs)
      return found
    }
  }
  const settings = once(async () => input.readSettings())
  const checkedStore = once(async () => checkStore(stateDir))
  const service = once(async () => {
    const { service } = await valueOrSkip(settings(), 'configuration')
    return service.kind === 'configured' ? service : undefined
  })
  const token = once(async () => readToken(await requireConfigured(service()), input))
  const proxy = once(async () => findProxy((await requireConfigured(service())).origin, input))
  /** The route to an https service; undefined for plain http, which stays on this computer. */
  const route = once(async (): Promise<ProbedRoute | undefined> => {
    const found = await requireConfigured(service())
    if (!found.origin.startsWith('https:')) return undefined
    const clock = { ...systemClock, nowMs: machine.nowMs }
    return { origin: found.origin, ...(await findConnectOptions(found, input)), clock, signal }
  })
  const client = once(async () => {
    const retry = { attempts: 1, firstDelayMs: 0, maxDelayMs: 0, forMs: limitMs / 2 }
    const found = await token().catch(() => NO_TOKEN)
    const service = await openService(await settings(), { ...input, token: found, logger: silentLogger, retry })
    // Also ends requests that were not answered.
    opened.defer(() => service.client.destroy())
    return service.client
  })
  /** Measures the time until the service's first answer, which may be an error. `dateMs`: the time by the service's clock. */
  const firstResponse = once(async () => {
    const beganAtMs = performance.now()
    const { headers } = await (await client()).callRaw('GET', '/v1/auth/check', undefined, signal)
    const dateMs = Date.parse(headers.date ?? '')
    const receivedAtMs = machine.nowMs()
    return {
      durationMs: performance.now() - beganAtMs,
      dateMs: Number.isNaN(dateMs) ? undefined : dateMs,
      receivedAtMs,
    }
  })
  return {
    ...input,
    stateDir,
    settings,
    checkedStore,
    /** Undefined without a store, and for a store of an older version, because opening would migrate it. */
    store: once(async () => {
      const inspected = await valueOrSkip(checkedStore(), 'state')
      const reader = inspected && !inspected.isOlder ? openStoreReader(stateDir) : undefined
      return reader && opened.use(reader)
    }),
    daemon: once(async () => connectToDaemon(stateDir)),
    service,
    token,
    proxy,
    route,
    /** Throws if there is a proxy that does not let requests through. */
    probedProxy: once(async () => {
      const found = await route()
      if (found) await probeProxy(found)
    }),
    certificateExpiresAtMs: once(async () => {
      const found = await route()
      return found && probeCertificate(found)
    }),
    client,
    firstResponse,
    access: once(async () => {
      await valueOrSkip(token(), 'credential')
      return (await client()).checkAccess(signal)
    }),
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  }
}

async function requireConfigured(service: Promise<ConfiguredServiceSettings | undefined>) {
  const found = await service
  if (found) return found
  throw new Error('No service is configured')
}

/** Thrown by a check that depends on another one that failed. */
export class Unchecked extends Error {
  constructor(otherCheck: string) {
    super(`not checked, see "${otherCheck}"`)
  }
}

/** Waits for a value whose failure another check reports; throws Unchecked if it failed. */
export async function valueOrSkip<T>(value: Promise<T>, otherCheck: string): Promise<T> {
  try {
    return await value
  } catch (error) {
    throw error instanceof Unchecked ? error : new Unchecked(otherCheck)
  }
}

export function findingOf(error: unknown): Finding {
  if (error instanceof Unchecked) return { level: 'unchecked', message: error.message }
  if (!(error instanceof ShelfdError)) return failed(messageOf(error), { code: 'unexpected' })
  return failed(error.message, { code: error.code, remedy: remedyFor(error.code) })
}
