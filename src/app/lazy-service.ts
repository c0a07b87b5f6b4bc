import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Connection, Service } from '../sync/engine.ts'
import { type OpenedService, type OpenServiceInput, openService } from './open-service.ts'
import type { Settings } from './settings/settings.ts'

/** The service for the engine: opened, and its credential checked, when the first request needs it, and closed here. */
export interface LazyService extends Service, AsyncDisposable {}

export function createLazyService(settings: Settings, input: OpenServiceInput): LazyService {
  let opened: Promise<OpenedService> | undefined
  let connection: Promise<Connection> | undefined
  let identity = knownIdentity(settings)
  const connect = async (signal: AbortSignal): Promise<Connection> => {
    opened = openService(settings, input)
    const service = await opened
    identity = service.identity
    return { client: service.client, access: await service.client.checkAccess(signal) }
  }
  return {
    get identity() {
      return identity
    },
    isEmbedded: settings.service.kind === 'embedded',
    connect: (signal) => {
      connection ??= connect(signal)
      return connection
    },
    [Symbol.asyncDispose]: async () => {
      const service = await opened?.catch(() => undefined)
      await service?.[Symbol.asyncDispose]()
    },
  }
}

/** Who the service is, as far as that can be known without asking it. */
function knownIdentity({ service }: Settings): string | undefined {
  if (service.kind === 'configured') return service.origin
  const file = join(service.dataDir, 'instance')
  return existsSync(file) ? `embedded:${readFileSync(file, 'utf8').trim()}` : undefined
}
