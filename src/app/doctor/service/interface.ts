import type { Capabilities } from '../../../remote/service-client.ts'
import { ok, warning } from '../../../rules/doctor/finding.ts'
import type { Check } from '../check.ts'
import { given } from '../unchecked.ts'

/** Whether the instance's OpenAPI has what shelfd needs, and what shelfd takes from it. */
export const interfaceCheck: Check = {
  name: 'interface',
  run: async (context) => {
    if (!(await context.service())) return []
    await given(context.access(), 'credential')
    const capabilities = await (await context.client()).capabilities(context.signal)
    const { undescribed, describedVersion } = capabilities
    const fields = describeFields(capabilities)
    if (undescribed === null)
      return [warning(`the instance shows no OpenAPI; ${fields}`, 'set what differs under contract')]
    if (undescribed.length === 0) return [ok(`version ${describedVersion ?? 'unknown'}; ${fields}`)]
    return [warning(`the instance's OpenAPI lacks ${undescribed.join(', ')}, which shelfd needs; ${fields}`)]
  },
}

/** Which fields requests use, each with where that comes from: configuration, OpenAPI or default. */
function describeFields({ createDirectory, createLibrary, uploadDirectoryField }: Capabilities): string {
  const directory =
    createDirectory.kind === 'path'
      ? createDirectory.field
      : `${createDirectory.nameField} + ${createDirectory.parentField}`
  const library = [createLibrary.nameField, createLibrary.overviewField]
    .filter((name) => name !== undefined)
    .join(' + ')
  const landing =
    uploadDirectoryField.field === undefined ? 'uploads land in .inbox' : `upload: ${uploadDirectoryField.field}`
  return [
    `directory: ${directory} (${createDirectory.source})`,
    `library: ${library} (${createLibrary.source})`,
    `${landing} (${uploadDirectoryField.source})`,
  ].join(', ')
}
