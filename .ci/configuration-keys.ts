/** The tables of keys and variables on the page of the configuration, out of its JSON Schema. */
import { OVERRIDES, settingFlags, variableOf } from '../src/app/settings/overrides.ts'
import { EMBEDDED_DEFAULTS } from '../src/app/settings/schema.ts'
import { configurationKeys, type Node } from './man/configuration-page.ts'
import { tableOf } from './table.ts'

export const CONFIGURATION_PAGE = new URL('../docs/configuration.md', import.meta.url)

const MARK = '<!-- From here on written by `npm run docs`, from src/app/settings. -->'

const OTHER_VARIABLES: readonly (readonly [string, string])[] = [
  ['SHELFD_CONFIG', '`--config`'],
  ['SHELFD_NO_SYSTEM_CONFIG', 'no flag: `/etc/shelfd/config.yaml` is not read'],
  ['SHELFD_TOKEN', 'no flag: the access token'],
  ['SHELFD_TOKEN_FILE', 'no flag: a file with the access token'],
  ['SHELFD_ALLOW_ROOT', '`--allow-root`, when it is 1 or true'],
]

/** The page of the configuration: what people wrote above the mark, then all keys and variables. */
export function renderConfigurationKeys(current: string): string {
  const [written = ''] = current.split(MARK)
  const sections = Object.entries(configurationKeys()).map(([name, key]) => ({ name, key, rows: rowsBelow(name, key) }))
  const tables = sections
    .filter(({ rows }) => rows.length > 0)
    .map(({ name, key, rows }) => `### ${name}\n\n${about(key)}${tableOf(['key', 'default', 'meaning'], rows)}`)
  const single = sections
    .filter(({ rows }) => rows.length === 0)
    .flatMap(({ name, key }) => [rowOf(name, key), ...objectsOf(name, key)])
  const flags = settingFlags.map((flag) => [
    code(variableOf(flag)),
    code(OVERRIDES[flag].path.join('.')),
    code(`--${flag}`),
  ])
  const others = OTHER_VARIABLES.map(([name, meaning]) => [code(name), '', meaning])
  const parts = [
    '## All keys',
    ...tables,
    `### Other keys\n\n${tableOf(['key', 'default', 'meaning'], single)}`,
    '## All variables',
    'An empty variable has no effect. `NO_COLOR` and `FORCE_COLOR` mean `--color never` and `--color always`.',
    tableOf(['variable', 'key', 'flag'], [...flags, ...others]),
  ]
  return `${written}${MARK}\n\n${parts.join('\n\n')}\n`
}

/** The keys below a key that have a value of their own; those of a mirror by their bare names. */
function rowsBelow(name: string, key: Node): string[][] {
  const inner = Object.entries(key.properties ?? key.items?.properties ?? {})
  return inner.flatMap(([field, value]) => {
    const path = name === 'mirrors' ? field : `${name}${key.items ? '[]' : ''}.${field}`
    const below = rowsBelow(path, value)
    const own = below.length === 0 || value.items ? [rowOf(path, value), ...objectsOf(path, value)] : []
    return [...own, ...below]
  })
}

function rowOf(path: string, key: Node): string[] {
  const values =
    key.enum && key.enum.length > 1 ? ` One of ${key.enum.map((each) => code(String(each))).join(', ')}.` : ''
  return [code(path), describeDefault(path, key.default), `${key.description ?? ''}${values}`]
}

/** The keys of a mapping that may stand in place of a word. */
function objectsOf(path: string, { anyOf = [] }: Node): string[][] {
  const fields = new Set(anyOf.flatMap(({ properties = {} }) => Object.keys(properties)))
  return [...fields].map((field) => [code(`${path}.${field}`), '', 'In the form of a mapping.'])
}

function describeDefault(path: string, value: unknown): string {
  const isNothing = value === undefined || (Array.isArray(value) && value.length === 0)
  const embedded = path.split('.').reduce<unknown>((at, name) => Object(at)[name], EMBEDDED_DEFAULTS)
  const own = isNothing ? '' : code(String(value))
  return embedded === undefined ? own : `${own}; embedded library ${code(String(embedded))}`
}

function about({ description }: Node): string {
  return description === undefined ? '' : `${description}\n\n`
}

function code(text: string): string {
  return `\`${text}\``
}
