import type { SettingsInForce } from '../../contract/dashboard/shapes.ts'
import type { Explained, ExplainedSettings } from '../settings/explain-settings.ts'

type Setting = SettingsInForce['settings'][number]

/** Lists every setting by its whole key, such as `limits.transfers` and `mirrors.0.path`; secrets are hints. */
export function listSettings({ configFile, root }: ExplainedSettings): SettingsInForce {
  return { configFile: configFile ?? null, settings: listOf('', root) }
}

function listOf(key: string, explained: Explained): Setting[] {
  switch (explained.kind) {
    case 'section':
      return explained.entries.flatMap(([name, inner]) => listOf(key === '' ? name : `${key}.${name}`, inner))
    case 'list':
      return explained.items.flatMap((item, index) => listOf(`${key}.${index}`, item))
    case 'hidden':
      return [{ key, value: `(${explained.hint})`, origin: explained.origin }]
    case 'value':
      return [{ key, value: textOf(explained.value), origin: explained.origin }]
  }
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}
