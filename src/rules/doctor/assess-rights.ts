import type { AccessContext, LibrarySummary } from '../../contract/records.ts'
import { mayUpload } from '../mirrors.ts'
import { type Finding, failed, ok, warning } from './finding.ts'

/** What mirroring needs of a library: the right in its `access`, or the ability for all libraries. */
const NEEDED = [
  { right: 'read', ability: 'library.all.read' },
  { right: 'resource.create', ability: 'library.all.resource.create' },
  { right: 'update', ability: 'library.all.update' },
] as const

/** Assesses the rights on the library of a mirror. */
export function assessRights(library: LibrarySummary, abilities: readonly string[]): Finding {
  const lacking = NEEDED.filter(({ right, ability }) => !library.access.includes(right) && !abilities.includes(ability))
  if (lacking.length === 0) return ok(`${library.name}: may be listed, written and added to`)
  const names = lacking.map(({ right }) => right).join(', ')
  const remedy = 'create a token with these rights for the library, on the Access Tokens page of the service'
  return failed(`${library.name}: the credential lacks ${names}`, { code: 'right-missing', remedy })
}

/** Lists rights that a credential for mirroring lacks, and those that it should not have. */
export function listCredentialWarnings(access: AccessContext): string[] {
  const { abilities, interfaces, libraries } = access
  const rights = new Set([...abilities, ...libraries.flatMap((library) => library.access)])
  const deleting = [...rights].filter((right) => right.endsWith('.delete'))
  const canCreate =
    abilities.includes('library.all.resource.create') || libraries.some((library) => mayUpload(library, access))
  return [
    ...(deleting.length > 0 ? [`this credential may delete (${deleting.join(', ')}); shelfd never needs that`] : []),
    ...(interfaces.includes('api') ? [] : ['this credential is not enabled for the API interface']),
    ...(canCreate ? [] : ['this credential may not create resources in any library; nothing can be sent']),
  ]
}

/** Assesses a credential that the service takes; `source` is where it came from. */
export function assessCredential(access: AccessContext, source: string): Finding[] {
  const { tenant, user } = access
  const warnings = listCredentialWarnings(access).map((text) =>
    warning(text, 'create a token with fewer or other rights'),
  )
  return [ok(`${user?.name ?? 'no user'}, tenant ${tenant.name}, token from ${source}`), ...warnings]
}
