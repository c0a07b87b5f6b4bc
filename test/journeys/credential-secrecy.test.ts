import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { startFaultyService } from '../support/faulty-service.ts'
import { temporaryHome } from '../support/home.ts'
import { runShelfd } from '../support/run-shelfd.ts'

test('the credential goes in one header and nowhere else (P22)', async () => {
  await using service = await startFaultyService({ library: 'Research' })
  const canary = service.token
  const home = temporaryHome(service)
  home.write('Papers', { 'a.md': 'A', 'sub/b.md': 'B', 'bad.md': 'bad' })
  // A service that repeats the credential in everything it says.
  const echo = { message: `no ${canary}`, errors: { [canary]: [`bad ${canary}`] } }
  service.answer = ({ route, fileName }) =>
    route === 'uploadFile' && fileName === 'bad.md' ? { status: 422, body: echo } : undefined
  service.rewrite = ({ route }, body) => (route === 'showResource' ? { ...body, ingestion_status: canary } : body)

  const outputs: string[] = []
  for (const format of ['text', 'json']) {
    const args = ['sync', 'Papers', '--to', 'Research', '--report', '-vv', '--log-format', format]
    const { child, ended } = runShelfd(args, { env: home.env, cwd: home.path })
    service.onAnswered = ({ route }) => {
      if (route === 'checkAccess') outputs.push(readFileSync(`/proc/${child.pid}/cmdline`, 'latin1'))
    }
    const { exitCode, stdout, stderr } = await ended
    expect(exitCode).toBe(1)
    outputs.push(stdout, stderr)
  }
  service.onAnswered = () => {}
  for (const command of [
    'report --format json --all',
    'status',
    'config show',
    'whoami',
    'history',
    'report --format text',
  ]) {
    const { stdout, stderr } = await home.shelfd(command.split(' '))
    outputs.push(stdout, stderr)
  }
  expect(outputs.join('\n').length).toBeGreaterThan(1_000)
  expect(outputs.filter((output) => output.includes(canary))).toEqual([])

  for (const name of readdirSync(home.stateDir)) {
    expect([name, readFileSync(join(home.stateDir, name)).includes(canary)]).toEqual([name, false])
  }
  const kept = service.requests.filter(({ headers: { authorization, ...rest }, path, body }) => {
    expect(authorization).toBe(`Bearer ${canary}`)
    return JSON.stringify(rest).includes(canary) || path.includes(canary) || body.includes(canary)
  })
  expect(kept).toEqual([])
})

test('a refused credential names address and origin, never itself', async () => {
  await using service = await startFaultyService()
  const token = 'refused-canary-4f1c9b7d2e'
  const home = temporaryHome({ url: service.url, token })
  const said = await home.shelfd(['whoami'])
  expect(said.exitCode).toBe(7)
  expect(said.stderr).toContain(
    `Cannot check the access at ${service.url}: the service answered 401 (credential refused)`,
  )
  expect(said.stderr).toMatch(/; the token comes from SHELFD_TOKEN$/m)
  expect(`${said.stdout}${said.stderr}`).not.toContain(token)
})
