import type { AccessContext } from '../../contract/records.ts'
import { AccessError } from '../../foundation/errors.ts'
import { shellWord } from '../../foundation/text/safe-text.ts'
import { isEmbeddedOrigin } from '../../rules/mirror-activity.ts'
import type { MirrorRow } from '../../store/tables/mirrors.ts'
import type { Service } from '../engine.ts'

/** Throws AccessError unless the service and its tenant are those that the mirror was pinned to (P15). */
export function assertSameService(row: MirrorRow, service: Service, access: AccessContext): void {
  const { name, library } = row
  const origin = identityOf(service)
  if (library.origin !== origin) throw originMismatch(row, service)
  if (library.tenantId !== access.tenant.id) {
    const text = `The mirror "${name}" belongs to tenant ${library.tenantId}`
    throw new AccessError(
      'tenant-mismatch',
      `${text}, but the credential belongs to tenant ${access.tenant.id} (${access.tenant.name})`,
    )
  }
}

/** Returns the error for a mirror that belongs to another service than `origin`, with the command that resolves it. */
export function originMismatch(
  { name, path, isAdHoc, library }: MirrorRow,
  { identity: origin, addressFrom }: Pick<Service, 'identity' | 'addressFrom'>,
): AccessError {
  const by = addressFrom === undefined ? '' : ` (by ${addressFrom})`
  const forget = `"shelfd mirrors forget ${shellWord(name)}" lets it start from the beginning here`
  const isForService = origin !== undefined && !isEmbeddedOrigin(origin)
  const owner = `The mirror "${name}" belongs to ${nameOwner(library.origin, origin)}`
  if (isEmbeddedOrigin(library.origin) && !isForService) {
    const current = origin === undefined ? 'the one in use, which is new' : `the one in use (${origin})`
    const hint = `if that one was moved, name its directory as "dataDir" or SHELFD_DATA_DIR; if it is lost, ${forget}`
    return new AccessError('origin-mismatch', `${owner}, not to ${current}; ${hint}`)
  }
  const ifRight =
    isAdHoc && isForService
      ? `"shelfd sync ${shellWord(path)} --to LIBRARY[:/path]" mirrors the directory here as well`
      : forget
  // If there are two addresses, one may be a mistake.
  const hint =
    isForService && !isEmbeddedOrigin(library.origin) ? `correct the address; if it is right, ${ifRight}` : ifRight
  return new AccessError('origin-mismatch', `${owner}, not to ${nameOrigin(origin)}${by}; ${hint}`)
}

/** Names the service that a mirror belongs to; identifies the library on this computer if there may be two. `current`: the one in use. */
export function nameOwner(owner: string, current: string | undefined): string {
  if (!isEmbeddedOrigin(owner)) return owner
  const isAmbiguous = current === undefined || isEmbeddedOrigin(current)
  return isAmbiguous ? `another library on this computer (${owner})` : 'the library on this computer'
}

/** Names a service by its origin, and the embedded library by its identity. */
export function nameOrigin(origin: string | undefined): string {
  if (origin === undefined) return 'the library on this computer'
  return isEmbeddedOrigin(origin) ? `the library on this computer (${origin})` : origin
}

export function identityOf({ identity }: Service): string {
  if (identity === undefined) throw new Error('The service is connected and has no identity')
  return identity
}
