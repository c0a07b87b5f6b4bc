import type { LibraryAccess } from '../../daemon/control/protocol.ts'
import { systemClock } from '../../foundation/clock.ts'
import type { OutageListener } from '../../remote/policies/outage.ts'
import { RetryAfter } from '../../remote/retry-after.ts'
import type { Connection, Service } from '../../sync/engine.ts'
import { identityOfService } from '../mirrors/mirror-roster.ts'
import type { Settings } from '../settings/settings.ts'
import { type OpenedService, type OpenServiceInput, openService } from './open-service.ts'

/** The service for the engine: opens it and checks the credential on the first `connect`; disposing closes it. */
export interface LazyService extends Service, AsyncDisposable {
  /** Address and token of the embedded library for other processes of this machine; null when a service is configured. */
  lendLibrary(signal: AbortSignal): Promise<LibraryAccess | null>
}

export function createLazyService(settings: Settings, given: OpenServiceInput): LazyService {
  const listeners = new Set<OutageListener>(given.onOutage ? [given.onOutage] : [])
  const onOutage: OutageListener = (outage) => {
    for (const listener of listeners) listener(outage)
  }
  // The service's `Retry-After` for one client holds for the next one, too.
  const input = { ...given, onOutage, retryAfter: given.retryAfter ?? new RetryAfter(systemClock) }
  let opened: Promise<OpenedService> | undefined
  let connection: Promise<Connection> | undefined
  let closing: Promise<void> = Promise.resolve()
  /** Opened services, including those that are closing. */
  const inUse = new Set<OpenedService>()
  let identity = identityOfService(settings)
  const connect = async (signal: AbortSignal): Promise<Connection> => {
    await closing
    // A service that was opened but refused the credential is used again until `disconnect`.
    opened ??= openService(settings, input)
    const service = await opened.catch((error: unknown) => {
      opened = undefined
      throw error
    })
    inUse.add(service)
    identity = service.identity
    return { client: service.client, access: await service.client.checkAccess(signal) }
  }
  const disconnect = () => {
    const service = opened
    opened = undefined
    connection = undefined
    closing = closing.then(() => close(service, inUse))
    return closing
  }
  const reset = async () => {
    const disconnected = disconnect()
    for (const { client } of inUse) await client.destroy()
    await disconnected
  }
  const connectOnce = (signal: AbortSignal) => {
    if (connection) return connection
    const connecting = connect(signal)
    connection = connecting
    // After a failure the next call connects again.
    connecting.catch(() => {
      if (connection === connecting) connection = undefined
    })
    return connecting
  }
  return {
    get identity() {
      return identity
    },
    isEmbedded: settings.service.kind === 'embedded',
    connect: connectOnce,
    onOutage: (listener) => {
      listeners.add(listener)
      return { [Symbol.dispose]: () => void listeners.delete(listener) }
    },
    disconnect,
    reset,
    lendLibrary: async (signal) => {
      if (settings.service.kind === 'configured') return null
      await connectOnce(signal)
      return (await opened)?.library ?? null
    },
    [Symbol.asyncDispose]: disconnect,
  }
}

async function close(opened: Promise<OpenedService> | undefined, inUse: Set<OpenedService>): Promise<void> {
  const service = await opened?.catch(() => undefined)
  if (!service) return
  await service[Symbol.asyncDispose]()
  inUse.delete(service)
}
