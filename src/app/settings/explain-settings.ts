import { z } from 'zod'
import { COMMAND_KEYS } from './config-paths.ts'
import { isMapping, type Raw, valueAt } from './raw-settings.ts'
import { loadConfiguration, type SettingsInput } from './read-settings.ts'
import { configSchema } from './schema.ts'
import type { Settings } from './settings.ts'

export interface ExplainedSection {
  readonly kind: 'section'
  readonly entries: readonly (readonly [key: string, Explained])[]
}

/** A value as the configuration file would contain it. `origin`: `FILE:LINE`, `--flag`, `SHELFD_VARIABLE` or `default`. */
export type Explained =
  | { readonly kind: 'value'; readonly value: unknown; readonly origin: string }
  | { readonly kind: 'hidden'; readonly hint: string; readonly origin: string }
  | { readonly kind: 'list'; readonly items: readonly ExplainedSection[] }
  | ExplainedSection

export interface ExplainedSettings {
  readonly configFile: string | undefined
  readonly root: ExplainedSection
}

export function explainSettings(input: SettingsInput): ExplainedSettings {
  const { settings, raw, originOf } = loadConfiguration(input)
  const explainer: Explainer = { raw, originOf, derived: derivedValues(settings) }
  const schema: unknown = z.toJSONSchema(configSchema, { io: 'input' })
  return { configFile: settings.configFile, root: explainSection(explainer, schema, []) }
}

type Path = readonly (string | number)[]

interface Explainer {
  readonly raw: Raw
  readonly originOf: (path: Path) => string
  /** Defaults that depend on other values or on the system, nested as in the file. */
  readonly derived: Raw
}

function explain(explainer: Explainer, schema: unknown, path: Path): Explained | undefined {
  const written = valueAt(explainer.raw, path)
  const items = valueAt(schema, ['items'])
  if (isMapping(valueAt(schema, ['properties']))) {
    const isGiven = written !== undefined || valueAt(schema, ['default']) !== undefined
    return isGiven ? explainSection(explainer, schema, path) : undefined
  }
  if (Array.isArray(written) && isMapping(valueAt(items, ['properties']))) {
    return { kind: 'list', items: written.map((_, index) => explainSection(explainer, items, [...path, index])) }
  }
  return explainLeaf(explainer, schema, path)
}

function explainSection(explainer: Explainer, schema: unknown, path: Path): ExplainedSection {
  const properties = valueAt(schema, ['properties'])
  const entries = Object.entries(isMapping(properties) ? properties : {}).flatMap(([key, inner]) => {
    const explained = explain(explainer, inner, [...path, key])
    return explained ? [[key, explained] as const] : []
  })
  return { kind: 'section', entries }
}

function explainLeaf(explainer: Explainer, schema: unknown, path: Path): Explained | undefined {
  const { raw, originOf, derived } = explainer
  const written = valueAt(raw, path)
  const value = written ?? valueAt(derived, path) ?? valueAt(schema, ['default'])
  if (value === undefined) return undefined
  const origin = originOf(path)
  const hint = hintOfSecret(path, value)
  if (hint !== undefined) return { kind: 'hidden', hint, origin }
  return { kind: 'value', value: asNumber(value, schema), origin }
}

/** Returns what is shown in place of a secret; undefined for other values. Arguments of a command may hold a secret. */
function hintOfSecret(path: Path, value: unknown): string | undefined {
  const key = path.join('.')
  if (key === 'service.token' || /^notify\.webhooks\.\d+\.url$/.test(key)) return 'set, not shown'
  if (!COMMAND_KEYS.test(key)) return undefined
  return `${Array.isArray(value) ? value[0] : ''} …, not shown in full`
}

/** Returns a number for the text of a flag or a variable if the file would have a number. */
function asNumber(value: unknown, schema: unknown): unknown {
  const types = [valueAt(schema, ['type'])].flat()
  return typeof value === 'string' && types.includes('number') && /^\d+(\.\d+)?$/.test(value) ? Number(value) : value
}

function derivedValues({ stateDir, service, mirrors, fleet }: Settings): Raw {
  return {
    stateDir,
    dataDir: service.dataDir,
    mirrors: mirrors.map(({ name, library, remotePath }) => ({ name, library, remotePath })),
    fleet: { host: fleet?.host },
  }
}
