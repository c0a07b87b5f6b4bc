import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'

const sbom = z.object({
  components: z.array(
    z.object({
      name: z.string(),
      /** What npm alone brings along has none; the packages for Linux leave it out. */
      version: z.string().optional(),
      licenses: z
        .array(z.object({ license: z.object({ id: z.string() }).optional(), expression: z.string().optional() }))
        .default([]),
    }),
  ),
})

/** The licences of shelfd, of Node and of all packages, from the files of the program. */
export function renderCopyright(program: string): string {
  const read = (name: string) => readFileSync(join(program, name), 'utf8')
  const { components } = sbom.parse(JSON.parse(read('sbom.cdx.json')))
  const others = components.flatMap(({ name, version, licenses }) => {
    const terms = licenses.map(({ license, expression }) => license?.id ?? expression)
    return version === undefined ? [] : [`  ${name} ${version}: ${terms.join(', ') || 'see its directory'}`]
  })
  return [
    'shelfd comes under this licence:\n',
    indent(read('LICENSE')),
    'It brings these packages of npm. The text of each licence is in the directory of the package below',
    '/usr/lib/shelfd/node_modules, as far as the package has one:\n',
    ...others,
    '\n/usr/lib/shelfd/bin/node is Node.js as nodejs.org publishes it, which comes under these licences:\n',
    indent(read('bin/LICENSE.node')),
  ].join('\n')
}

function indent(text: string): string {
  return text.replace(/^(?=.)/gm, '  ')
}
