import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { isMapping } from '../../../src/app/settings/raw-settings.ts'
import { configJsonSchema } from '../../../src/app/settings/schema.ts'
import { readSettingsWith } from './read-settings-with.ts'

const config = (name: string) => readFileSync(new URL(`../../../config/${name}`, import.meta.url), 'utf8')

test('the JSON Schema in config/ is current', () => {
  expect(JSON.parse(config('config.schema.json'))).toEqual(JSON.parse(configJsonSchema()))
})

test('the example gives every default of a configured service', () => {
  const yaml = config('config.example.yaml')
  const { service, mirrors, ...example } = readSettingsWith({ yaml })
  const { service: _, mirrors: __, ...byDefault } = readSettingsWith({ yaml: 'service: { url: "https://x.org" }' })
  expect(example).toEqual(byDefault)
  expect(service).toMatchObject({ origin: 'https://library.example.com', tokenFile: '/home/ada/.config/shelfd/token' })
  expect(mirrors).toHaveLength(1)
})

test('the example names every section', () => {
  const schema: unknown = JSON.parse(configJsonSchema())
  const sections = isMapping(schema) && isMapping(schema.properties) ? Object.keys(schema.properties) : []
  const yaml = config('config.example.yaml')
  for (const section of sections) expect(yaml).toMatch(new RegExp(`^(?:# )?${section}:`, 'm'))
  expect(sections.length).toBeGreaterThan(5)
})
