/** What is handed to people who look for a fault: enough to find it, and nothing that must stay private. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { startFaultyService } from '../support/faulty-service.ts'
import { homeWithPapers, temporaryHome, variablesOf } from '../support/home.ts'

const FILE_CANARY = 'canary-of-a-file-name'
const PROXY_CANARY = 'canary-of-the-proxy'

async function reportedHome() {
  const service = await startFaultyService({ library: 'Research' })
  service.answer = ({ route, fileName }) =>
    route === 'uploadFile' && fileName?.includes('refused') ? { status: 413, body: { message: fileName } } : undefined
  const home = homeWithPapers({
    [`${FILE_CANARY}.md`]: 'canary-of-contents',
    [`${FILE_CANARY}-refused.md`]: 'too large',
  })
  writeFileSync(join(home.path, 'token'), service.token, { mode: 0o600 })
  home.write('config/shelfd', {
    'config.yaml': [
      `service: { url: "${service.url}", tokenFile: ${home.path}/token }`,
      `mirrors: [{ name: papers, path: ${home.path}/Papers, library: Research, ignore: ["*.bak"] }]`,
    ].join('\n'),
  })
  expect((await home.sync([], { SHELFD_FIRST_POLL: '5ms' })).exitCode).toBe(1)
  return { home, service }
}

test('a bug report has versions, settings, checks, counts and runs', async () => {
  const { home } = await reportedHome()
  const { exitCode, stdout } = await home.shelfd(['bug-report'])
  expect(exitCode).toBe(0)
  const titles = stdout.split('\n').filter((line) => line.startsWith('## '))
  expect(titles).toEqual(['## Program', '## Configuration', '## Checks', '## Mirrors', '## Runs'])
  for (const part of [process.versions.node, '*.bak', 'ok state', '"searchable": 1', '"verdict": "failed"']) {
    expect(stdout).toContain(part)
  }
})

test('a bug report has no token, no password, no name and no contents of a file', async () => {
  const { home, service } = await reportedHome()
  const proxy = { HTTPS_PROXY: `http://user:${PROXY_CANARY}@127.0.0.1:9` }
  for (const env of [proxy, { ...proxy, ...variablesOf(service) }]) {
    for (const args of [['bug-report'], ['bug-report', '--json']]) {
      const { stdout, stderr } = await home.shelfd(args, env)
      expect(stdout).toContain('papers')
      for (const secret of [service.token, FILE_CANARY, 'canary-of-contents', PROXY_CANARY, home.path]) {
        expect(stdout + stderr).not.toContain(secret)
      }
    }
  }
})

test('a bug report shows the mistake of a configuration that is invalid', async () => {
  const home = temporaryHome()
  home.write('config/shelfd', { 'config.yaml': 'mirors: []\n' })
  const { exitCode, stdout } = await home.shelfd(['bug-report'])
  expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: expect.stringContaining('unknown key "mirors"') })
})

test('--version --json names the platform and the places, also with an invalid configuration', async () => {
  const home = temporaryHome()
  const configFile = join(home.write('config/shelfd', { 'config.yaml': 'mirors: []\n' }), 'config.yaml')
  const { exitCode, stdout } = await home.shelfd(['--version', '--json'])
  expect(exitCode).toBe(0)
  expect(JSON.parse(stdout)).toMatchObject({ node: process.versions.node, configFile, stateDir: home.stateDir })
})
