import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { embeddedOrigin } from '../../rules/mirrors/mirror-activity.ts'
import type { Settings } from '../settings/settings.ts'

/** The identity that mirrors are pinned to, without a request; undefined for an embedded library that was never started. */
export function identityOfService({ service }: Pick<Settings, 'service'>): string | undefined {
  if (service.kind === 'configured') return service.origin
  const file = join(service.dataDir, 'instance')
  return existsSync(file) ? embeddedOrigin(readFileSync(file, 'utf8').trim()) : undefined
}
