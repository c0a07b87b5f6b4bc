import { expect, test } from 'vitest'
import { homeOnService } from '../support/home-on-service.ts'

test('report --verify exits 1 for bytes that differ', async () => {
  const { service, home } = await homeOnService({ 'a.md': 'one', 'b.md': 'two' })
  expect((await home.sync(['Papers', '--to', 'Research'])).exitCode).toBe(0)
  const well = await home.shelfd(['report', '--verify'])
  expect(well.stdout).toContain('2 sent files (6 B) downloaded and compared: all as sent')
  expect(well.exitCode).toBe(0)
  service.answer = ({ route }) =>
    route === 'downloadResource'
      ? { status: 200, body: 'ONE', headers: { 'content-type': 'text/markdown' } }
      : undefined
  const bad = await home.shelfd(['report', '--verify', '--json'])
  expect(bad.exitCode).toBe(1)
  const [mirror] = JSON.parse(bad.stdout).mirrors
  expect(mirror).toMatchObject({ counts: { 'needs-attention': 2 }, verified: { contents: 2, bytes: 6, faults: 2 } })
  for (const format of ['text', 'html', 'markdown']) {
    const { stdout } = await home.shelfd(['report', '--verify', '--format', format, '--only', 'in-sync'])
    expect(stdout, format).toContain('2 sent files (6 B) downloaded and compared: 2 not as sent')
  }
  const offline = await home.shelfd(['report', '--verify', '--offline'])
  expect(offline.exitCode).toBe(2)
  expect(offline.stderr).toContain('--offline')
})
