/** JSON output: a whole document or nothing, and every time in one format. */
import { rmSync } from 'node:fs'
import { expect, test } from 'vitest'
import { startDaemon } from '../support/daemon.ts'
import { expectExit, homeWithPapers, variablesOf } from '../support/home.ts'
import { homeOnService } from '../support/home-on-service.ts'

async function mirroredTwice() {
  const { service, home } = await homeOnService()
  for (const name of ['First', 'Second']) {
    home.write(name, { [`${name}.md`]: `of ${name}` })
    await home.shelfd(['sync', name, '--to', 'Research'])
  }
  return { service, home }
}

test('report --json prints no document with a wrong token', async () => {
  const { service, home } = await mirroredTwice()
  const wrong = variablesOf({ url: service.url, token: `${service.token.slice(0, -1)}!` })
  const { exitCode, stdout, stderr } = await home.shelfd(['report', '--json'], wrong)
  expect({ exitCode, stdout }).toEqual({ exitCode: 7, stdout: '' })
  expect(stderr).toContain('401')
})

test('report --json is a whole document when a later mirror fails', async () => {
  const { home } = await mirroredTwice()
  rmSync(`${home.path}/Second`, { recursive: true })
  const { stdout } = expectExit(await home.shelfd(['report', '--json']), 3, 'Second')
  const document = JSON.parse(stdout)
  expect(document.mirrors).toMatchObject([{ name: 'First', counts: { 'in-sync': 1 } }])
  expect(document.error).toEqual({ code: 'root-missing', message: expect.stringContaining('Second') })
})

test('every JSON answer has its times in ISO 8601', async () => {
  const home = homeWithPapers({ 'a.md': 'pelican', 'empty.pipe': '' })
  home.write('config/shelfd', { 'config.yaml': `mirrors: [{ name: papers, path: ${home.path}/Papers }]\n` })
  await home.shelfd(['serve', 'tokens', 'create', 'reader', '--access', 'read', '--expires', '30d'])
  const daemon = await startDaemon(home)
  await daemon.until('it is sent', ({ mirrors }) => mirrors[0]?.lastSuccessAt !== null)
  const answers = await Promise.all(
    ['status', 'report', 'failed list', 'serve tokens list', 'sync papers'].map(async (words) => {
      return { words, answer: await home.json([...words.split(' ')]) }
    }),
  )
  const { daemon: status } = answers[0]?.answer ?? {}
  expect(status).toMatchObject({
    startedAt: expect.stringMatching(ISO),
    service: { since: expect.stringMatching(ISO) },
    mirrors: [{ lastScanAt: expect.stringMatching(ISO), nextRunAt: expect.stringMatching(ISO) }],
  })
  for (const { words, answer } of answers) expect({ words, stamps: stampsIn(answer) }).toEqual({ words, stamps: [] })
})

const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

/** Numbers that can only be times in milliseconds, by their keys. */
function stampsIn(value: unknown, key = ''): string[] {
  if (typeof value === 'number') return value > 1e12 ? [key] : []
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([inner, child]) => stampsIn(child, `${key}.${inner}`))
}
