import { chmodSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { configure, startDaemon } from '../support/daemon.ts'
import { startFaultyService } from '../support/faulty-service.ts'
import { expectExit, homeWithPapers, temporaryHome } from '../support/home.ts'
import { homeOnService } from '../support/home-on-service.ts'
import { DANGEROUS } from '../support/hostile-text.ts'

test('the credential is in one header and nowhere else [P22, S-03]', async () => {
  await using service = await startFaultyService({ library: 'Research' })
  const canary = service.token
  const home = homeWithPapers({ 'a.md': 'A', 'sub/b.md': 'B', 'bad.md': 'bad' }, service)
  // The service repeats the credential in every answer.
  const echo = { message: `no ${canary}`, errors: { [canary]: [`bad ${canary}`] } }
  service.answer = ({ route, fileName }) =>
    route === 'uploadFile' && fileName === 'bad.md' ? { status: 422, body: echo } : undefined
  service.rewrite = ({ route }, body) => (route === 'showResource' ? { ...body, ingestion_status: canary } : body)

  const outputs: string[] = []
  for (const format of ['text', 'json']) {
    const args = ['sync', 'Papers', '--to', 'Research', '--report', '-vv', '--log-format', format]
    const { child, ended } = home.start(args)
    service.onResponse = ({ route }) => {
      if (route === 'checkAccess') outputs.push(readFileSync(`/proc/${child.pid}/cmdline`, 'latin1'))
    }
    const { exitCode, stdout, stderr } = await ended
    expect(exitCode).toBe(1)
    outputs.push(stdout, stderr)
  }
  service.onResponse = () => {}
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

test('a refused credential is named by address and origin only', async () => {
  await using service = await startFaultyService()
  const token = 'refused-canary-4f1c9b7d2e'
  const home = temporaryHome({ url: service.url, token })
  const outcome = await home.shelfd(['whoami'])
  expect(outcome.exitCode).toBe(7)
  expect(outcome.stderr).toContain(
    `Cannot check the access at ${service.url}: the service answered 401 (credential refused)`,
  )
  expect(outcome.stderr).toMatch(/; the token comes from SHELFD_TOKEN$/m)
  expect(`${outcome.stdout}${outcome.stderr}`).not.toContain(token)
})

test('a crash prints its place and hides the credential [F-PR-04, S-19]', async () => {
  const { service, home, root: papers } = await homeOnService({ 'a.md': 'A' })
  configure(home, { mirrors: [{ path: papers, library: 'Research' }] })
  const crash = `process.on('SIGUSR2', () => { throw new Error('no ' + process.env.SHELFD_TOKEN + '\\u202e') })`
  const env = { NODE_OPTIONS: `--import "data:text/javascript,${encodeURIComponent(crash)}"` }
  for (const [format, start] of [
    ['text', 'shelfd: no [secret]\\u{202e}'],
    ['json', '"code":"unexpected"'],
  ] as const) {
    const daemon = await startDaemon(home, { ...env, SHELFD_LOG_FORMAT: format })
    daemon.child.kill('SIGUSR2')
    const { stderr } = expectExit(await daemon.ended, 1, start)
    expect(stderr).toContain('at process.')
    expect(stderr).not.toContain(service.token)
    expect(stderr).not.toMatch(DANGEROUS)
  }
})

/** Forms in which a service, a proxy or a log may repeat the credential. */
const ECHOES: Readonly<Record<string, (token: string) => string>> = {
  'JSON code points': (token) => Array.from(token, (letter) => `\\u00${letter.charCodeAt(0).toString(16)}`).join(''),
  'a percent-encoded address': (token) =>
    Array.from(token, (letter) => `%${letter.charCodeAt(0).toString(16)}`).join(''),
  'HTML entities': (token) => Array.from(token, (letter) => `&#${letter.charCodeAt(0)};`).join(''),
  'Basic credentials': (token) => Buffer.from(`ada:${token}`).toString('base64'),
  hexadecimal: (token) => Buffer.from(token).toString('hex'),
}

test('a credential repeated in escapes is shown nowhere [P22, S-04]', async () => {
  await using service = await startFaultyService({ library: 'Research' })
  const echoes = Object.values(ECHOES)
    .map((echo) => echo(service.token))
    .join(' ')
  const home = homeWithPapers({ 'a.md': 'A', 'bad.md': 'bad' }, service)
  const body = `{"message":"no ${echoes}","errors":{"${echoes}":["bad ${echoes}"]}}`
  const headers = { 'x-echo': echoes, location: `/login?${echoes.replaceAll(' ', '+')}` }
  service.answer = ({ route, fileName, path }) => {
    if (route === 'uploadFile' && fileName === 'bad.md') return { status: 422, body, headers }
    if (path.endsWith('/moved')) return { status: 302, body, headers }
    return path.endsWith('/nothing') ? { status: 404, body, headers } : undefined
  }
  const outputs: string[] = []
  for (const command of [
    'sync Papers --to Research --report -vv',
    'report --format json',
    'status',
    'why Papers/bad.md --json',
    'failed list --json',
    'history',
    'api GET /v1/nothing',
    'api GET /v1/nothing --json',
    'api GET /v1/moved -vv',
    'whoami --json',
  ]) {
    const { stdout, stderr } = await home.shelfd(command.split(' '))
    outputs.push(stdout, stderr)
  }
  const kept = readdirSync(home.stateDir).map((name) => readFileSync(join(home.stateDir, name), 'latin1'))
  const all = [...outputs, ...kept].join('\n')
  expect(all).toContain('bad.md')
  expect(all).toContain('[secret]')
  expect(all).not.toContain(service.token)
  for (const form of Object.values(ECHOES)) expect(all).not.toContain(form(service.token).slice(8, -8))
})

describe('an address with a password in the configuration', () => {
  const PASSWORD = 'tr0ub4dor/and 3'
  const ADDRESS = `https://ada:${PASSWORD}@hooks.example.com/x`

  test.each([
    ['notify.webhooks[0].url', { notify: { webhooks: [{ url: ADDRESS }] } }],
    ['notify.webhooks', { notify: { webhooks: ADDRESS } }],
    ['notify.webhooks[0]', { notify: { webhooks: [ADDRESS] } }],
    ['notify.command', { notify: { command: `post --password ${PASSWORD}` } }],
    ['embedder', { embedder: { url: ADDRESS, model: 'm' } }],
    ['service.url', { service: { url: ADDRESS } }],
    ['health.listen', { health: { listen: ADDRESS } }],
  ])('an address in %s is refused, and no command prints its password [P22]', async (key, config) => {
    const home = temporaryHome()
    configure(home, config)
    chmodSync(join(home.path, 'config/shelfd/config.yaml'), 0o600)
    for (const command of ['config show', 'doctor', 'notify test', 'status', 'sync', 'daemon']) {
      const { exitCode, stdout, stderr } = await home.shelfd(command.split(' '), { SHELFD_EMBEDDER: '' })
      const output = `${stdout}${stderr}`
      expect({ command, exitCode: exitCode === 0 }).toEqual({ command, exitCode: false })
      expect(output).toContain(key)
      expect(output).not.toContain('tr0ub4dor')
    }
  })
})
