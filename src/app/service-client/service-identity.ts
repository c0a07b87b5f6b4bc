import { join } from 'node:path'
import { readOwnFile } from '../../foundation/files/own-file.ts'
import { embeddedOrigin } from '../../rules/mirrors.ts'
import type { Settings } from '../settings/settings.ts'

const MOST_INSTANCE_BYTES = 4_096

/** The identity that mirrors are pinned to, without a request; undefined for an embedded library that was never started. */
export function identityOfService({ service }: Pick<Settings, 'service'>): string | undefined {
  if (service.kind === 'configured') return service.origin
  const written = readOwnFile(join(service.dataDir, 'instance'), MOST_INSTANCE_BYTES)
  return written === undefined ? undefined : embeddedOrigin(written.trim())
}
