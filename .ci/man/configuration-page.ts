/** The page of the configuration file, out of its JSON Schema. */
import { z } from 'zod'
import { configJsonSchema } from '../../src/app/settings/schema.ts'
import { bold, item, type ManPage, pageOf, paragraphs, section, seeAlso, verbatim } from './roff.ts'

/** A part of the JSON Schema. */
export interface Node {
  readonly description?: string | undefined
  readonly default?: unknown
  readonly enum?: readonly unknown[] | undefined
  readonly properties?: Readonly<Record<string, Node>> | undefined
  readonly items?: Node | undefined
  readonly anyOf?: readonly Node[] | undefined
}

const node: z.ZodType<Node> = z.lazy(() =>
  z.object({
    description: z.string().optional(),
    default: z.unknown().optional(),
    enum: z.array(z.unknown()).optional(),
    properties: z.record(z.string(), node).optional(),
    items: node.optional(),
    anyOf: z.array(node).optional(),
  }),
)

const EXAMPLE = `mirrors:
  - path: ~/Papers
service:
  url: https://library.example.com
  tokenFile: ~/.config/shelfd/token
`

/** The keys of the configuration by their names. */
export function configurationKeys(): Readonly<Record<string, Node>> {
  return node.parse(JSON.parse(configJsonSchema())).properties ?? {}
}

export function renderConfigurationPage(): ManPage {
  const properties = configurationKeys()
  const [sections, others] = split(Object.entries(properties), ([, { properties: inner, items }]) => {
    return (inner ?? items?.properties) !== undefined
  })
  return pageOf('shelfd-config.5', 'the configuration file of shelfd', [
    section('Synopsis', verbatim(['$XDG_CONFIG_HOME/shelfd/config.yaml', '/etc/shelfd/config.yaml'])),
    section('Description', paragraphs(ABOUT)),
    section('Examples', verbatim(EXAMPLE.trimEnd().split('\n'))),
    ...sections.map(([name, inside]) => describeSection(name, inside)),
    section('Other keys', ...others.flatMap(([name, key]) => describeKey(name, key))),
    seeAlso(['shelfd.1', 'shelfd-init.1', 'shelfd-config.1', 'shelfd-doctor.1']),
  ])
}

const ABOUT = `The file is YAML, and every key is optional: without a file, shelfd uses the library on this computer. The first
file that exists is read: --config FILE, the one named by SHELFD_CONFIG, then those above.

A flag takes precedence, then a variable, then the file, then the default. \${NAME} and \${NAME:-default} are replaced from the
environment, and $\${ stays \${. Sizes are written as 500K, 50MB or 2GB in powers of 1024, durations as 500ms, 30s, 5m, 1h30m or 30d.
Relative paths count from the file, and ~ is the home directory. An unknown key is an error.

A file that holds a token or the address of a webhook needs mode 0600. Nobody but its owner and root may be able to write it.`

function describeSection(name: string, { description, properties, items }: Node): string {
  const keys = Object.entries(properties ?? items?.properties ?? {})
  const kind = items ? `${name} (a list)` : name
  const about = description ? [paragraphs(description)] : []
  return section(kind, ...about, ...keys.flatMap(([key, inside]) => describeKey(`${name}.${key}`, inside)))
}

/** A key and, below it, those inside it. */
function describeKey(name: string, key: Node): string[] {
  const inner = key.properties ?? key.items?.properties
  const values = key.enum && key.enum.length > 1 ? ` One of ${key.enum.join(', ')}.` : ''
  const otherwise = inner ? '' : describeDefault(key.default)
  const own = item(bold(name), `${key.description ?? ''}${values}${otherwise}`.trim())
  const objects = key.anyOf?.flatMap(({ properties = {} }) => Object.keys(properties)) ?? []
  const inside = [...new Set(objects)].map((field) => item(bold(`${name}.${field}`), 'In the form of a mapping.'))
  return [
    own,
    ...Object.entries(inner ?? {}).flatMap(([field, value]) => describeKey(`${name}.${field}`, value)),
    ...inside,
  ]
}

function describeDefault(value: unknown): string {
  if (value === undefined || (Array.isArray(value) && value.length === 0)) return ''
  return ` Default: ${String(value)}.`
}

function split<T>(all: readonly T[], isFirst: (each: T) => boolean): [T[], T[]] {
  return [all.filter(isFirst), all.filter((each) => !isFirst(each))]
}
