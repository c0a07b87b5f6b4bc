import { expect, test } from 'vitest'
import { listSettings } from '../../src/app/dashboard-sources.ts'
import { explainSettings } from '../../src/app/settings/explain-settings.ts'

test('secrets among the settings are shown as hints', () => {
  const text = 'service: { url: "https://library.example.com", token: canary-1 }\n'
  const own = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0, mode: 0o600 }
  const readFile = () => ({ text, ownership: own, directory: own })
  const explained = explainSettings({ flags: { config: '/config.yaml' }, env: {}, cwd: '/', home: '/', readFile })
  const { settings } = listSettings(explained)
  expect(JSON.stringify(settings)).not.toContain('canary-1')
  expect(settings.find(({ key }) => key === 'service.token')).toMatchObject({ value: '(set, not shown)' })
})
