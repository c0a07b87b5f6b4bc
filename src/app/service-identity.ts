import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { embeddedOrigin } from '../rules/mirror-activity.ts'
import type { Settings } from './settings/settings.ts'

/** What mirrors of the service in use are pinned to, without asking it; undefined for an embedded library never started. */
export function identityOfService({ service }: Pick<Settings, 'service'>): string | undefined {
  if (service.kind === 'configured') return service.origin
  const file = join(service.dataDir, 'instance')
  return existsSync(file) ? embeddedOrigin(readFileSync(file, 'utf8').trim()) : undefined
}
