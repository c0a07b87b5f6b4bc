import { endpoint } from '../http/endpoint.ts'
import { exactAccess } from '../http/exact-records.ts'
import { TENANT_ID } from '../http/signing.ts'

const OWNER = { id: 1, name: 'Owner', email: 'owner@library.invalid' }

export const checkAccess = endpoint({
  route: 'checkAccess',
  summary: 'Verify the credential and show what it allows',
  description: '`libraries` lists every library on which the credential has at least one right.',
  answers: { 200: { description: 'The access context', shape: exactAccess } },
  errors: [401, 403],
  handle({ service, grant }) {
    const libraries = service.tables.libraries
      .all()
      .map((library) => ({ id: library.publicId, name: library.name, access: grant?.accessTo(library) ?? [] }))
    return {
      tenant: { id: TENANT_ID, name: 'Embedded library', slug: `embedded-${service.instanceId.slice(-8)}` },
      user: OWNER,
      grant_type: 'access_token',
      interfaces: grant?.interfaces ?? [],
      abilities: grant?.abilities ?? [],
      libraries: libraries.filter(({ access }) => access.length > 0),
    }
  },
})
