import type { AccessContext } from '../../contract/records.ts'
import { listCredentialWarnings } from '../../rules/doctor-findings.ts'
import { defineCommand } from '../command.ts'
import { CONNECTION_FLAGS } from '../global-options.ts'
import { renderFields } from '../render/layout.ts'

export const command = defineCommand({
  settingFlags: CONNECTION_FLAGS,
  examples: [
    ['whoami', 'tenant, user, abilities, the rights on each library, and warnings'],
    ['whoami --json', 'the access context as the service gives it'],
  ],
  exits: ['done', 'temporary', 'refused'],
  async run(context) {
    await using service = await context.openService()
    const access = await service.client.checkAccess(context.signal)
    const warnings = listCredentialWarnings(access)
    if (context.json) {
      context.printJson({ service: service.client.origin, ...access, warnings })
      return
    }
    context.printText(renderFields({ service: service.client.origin, kind: service.kind, ...describeAccess(access) }))
    if (access.libraries.length > 0) {
      const rows = access.libraries.map(({ id, name, access: rights }) => [id, name, rights.join(', ')])
      context.print('')
      context.printTable(['id', 'library', 'rights'], rows)
    }
    if (service.kind === 'embedded') return
    for (const warning of warnings) context.printMessage(`warning: ${warning}`)
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
