import type { AccessContext } from '../../contract/records.ts'
import { defineCommand } from '../command.ts'
import { renderFields } from '../render/layout/table.ts'

export const command = defineCommand({
  positionals: {},
  options: {},
  settingFlags: ['data-dir', 'service-url', 'ca-file'],
  examples: [
    ['whoami', 'tenant, user, abilities, the rights on each library, and warnings'],
    ['whoami --json', 'the access context as the service gives it'],
  ],
  exits: ['done', 'temporary', 'refused'],
  async run(context) {
    await using service = await context.openService()
    const access = await service.client.checkAccess(context.signal)
    if (context.json) {
      context.printJson({ service: service.client.origin, ...access, warnings: findWarnings(access) })
      return 'done'
    }
    context.print(renderFields({ service: service.client.origin, kind: service.kind, ...describeAccess(access) }))
    if (access.libraries.length > 0) {
      const rows = access.libraries.map(({ id, name, access: rights }) => [id, name, rights.join(', ')])
      context.print('')
      context.printTable(['id', 'library', 'rights'], rows)
    }
    if (service.kind === 'embedded') return 'done'
    for (const warning of findWarnings(access)) context.printMessage(`warning: ${warning}`)
    return 'done'
  },
})

function describeAccess({ tenant, user, abilities, interfaces, grant_type }: AccessContext) {
  return {
    tenant: `${tenant.name} (${tenant.slug}, ${tenant.id})`,
    user: user ? `${user.name} <${user.email}>` : 'none',
    credential: grant_type,
    interfaces: interfaces.join(', '),
    abilities: abilities.join(', ') || 'none',
  }
}

/** Lists rights that a credential for mirroring lacks, and those that it should not have. */
function findWarnings({ abilities, interfaces, libraries }: AccessContext): string[] {
  const deleting = abilities.filter((ability) => ability.endsWith('.delete'))
  const canCreate =
    abilities.includes('library.all.resource.create') ||
    libraries.some(({ access }) => access.includes('resource.create'))
  return [
    ...(deleting.length > 0 ? [`this credential may delete (${deleting.join(', ')}); shelfd never needs that`] : []),
    ...(interfaces.includes('api') ? [] : ['this credential is not enabled for the API interface']),
    ...(canCreate ? [] : ['this credential may not create resources in any library; nothing can be sent']),
  ]
}
