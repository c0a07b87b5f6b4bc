import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { LibraryAccess } from '../daemon/control/protocol.ts'
import type { Connection, Service } from '../sync/engine.ts'
import { type OpenedService, type OpenServiceInput, openService } from './open-service.ts'
import type { Settings } from './settings/settings.ts'

/** The service for the engine: opened, and its credential checked, when the first request needs it, and closed here. */
export interface LazyService extends Service, AsyncDisposable {
  /** The embedded library's address and token, for others on this machine; null when a service is configured. */
  lendLibrary(signal: AbortSignal): Promise<LibraryAccess | null>
}

export function createLazyService(settings: Settings, input: OpenServiceInput): LazyService {
  let opened: Promise<OpenedService> | undefined
  let connection: Promise<Connection> | undefined
  let closing: Promise<void> = Promise.resolve()
  /** Those that are closing among them. */
  const inUse = new Set<OpenedService>()
  let identity = knownIdentity(settings)
  const connect = async (signal: AbortSignal): Promise<Connection> => {
    await closing
    // A service that was opened and then refused the credential is used again until it is disconnected.
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
    // Whoever asks next tries again.
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

/** Who the service is, as far as that can be known without asking it. */
function knownIdentity({ service }: Settings): string | undefined {
  if (service.kind === 'configured') return service.origin
  const file = join(service.dataDir, 'instance')
  return existsSync(file) ? `embedded:${readFileSync(file, 'utf8').trim()}` : undefined
}
