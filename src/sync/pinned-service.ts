import type { AccessContext } from '../contract/records.ts'
import { RefusedError } from '../foundation/errors.ts'
import type { MirrorRow } from '../store/mirrors.ts'
import type { Service } from './engine.ts'

/** Throws RefusedError unless the service and its tenant are those that the mirror was pinned to (P15). */
export function assertSameService({ name, library }: MirrorRow, service: Service, access: AccessContext): void {
  const origin = identityOf(service)
  if (library.origin !== origin) {
    throw new RefusedError('origin-mismatch', `The mirror "${name}" belongs to ${library.origin}, not to ${origin}`)
  }
  if (library.tenantId !== access.tenant.id) {
    const text = `The mirror "${name}" belongs to tenant ${library.tenantId}`
    throw new RefusedError(
      'tenant-mismatch',
      `${text}, the credential to tenant ${access.tenant.id} (${access.tenant.name})`,
    )
  }
}

/** Who a connected service is. */
export function identityOf({ identity }: Service): string {
  if (identity === undefined) throw new Error('The service is connected and has no identity')
  return identity
}
