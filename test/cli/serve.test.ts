import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { API_PREFIX, ROUTES } from '../../src/contract/routes.ts'
import { createHome, createStop, type Outcome } from './run-with.ts'

const { home, shelfd } = createHome()

/** Runs `serve` until `use` is done. */
async function whileServing(line: string, use: (firstLine: string) => Promise<void>): Promise<Outcome> {
  const { signal, stop } = createStop()
  const started = Promise.withResolvers<string>()
  const ended = shelfd(line, { signal, onStdout: (text) => text.endsWith('\n') && started.resolve(text) })
  await Promise.race([started.promise, ended])
  try {
    await use(await started.promise)
  } finally {
    stop()
  }
  return ended
}

test('serve prints one line of JSON, serves, and exits with 0 when stopped', async () => {
  const ended = await whileServing('serve --data-dir lib --json', async (line) => {
    const { url, tokenFile, documentation, ...rest } = JSON.parse(line)
    expect(rest).toEqual({})
    expect(tokenFile).toBe(join(home, 'lib', 'token'))
    expect(statSync(tokenFile).mode & 0o777).toBe(0o600)
    expect((await fetch(documentation)).status).toBe(200)
    const env = { SHELFD_SERVICE_URL: url, SHELFD_TOKEN_FILE: tokenFile }
    expect(await shelfd('whoami', { env })).toMatchObject({ exitCode: 0 })
  })
  expect(ended.exitCode).toBe(0)
  expect(ended.stdout.split('\n')).toHaveLength(2)
})

test('a directory is served once', async () => {
  await whileServing('serve --data-dir lib', async () => {
    expect(await shelfd('serve --data-dir lib')).toMatchObject({ exitCode: 11 })
  })
})

test('serve beyond loopback warns and refuses every request without a token [S-11, S-20]', async () => {
  const ended = await whileServing('serve --data-dir open --host 0.0.0.0 --json', async (line) => {
    const url = String(JSON.parse(line).url).replace('0.0.0.0', '127.0.0.1')
    for (const { method, path } of Object.values(ROUTES)) {
      const answer = await fetch(`${url}${API_PREFIX}${path}`, { method })
      expect([path, answer.status]).toEqual([path, 401])
    }
  })
  expect(ended.stderr).toMatch(/^[\d:]+ warn +others on the network can reach this server.*https.* host=0\.0\.0\.0$/m)
  expect((await whileServing('serve --data-dir lib', async () => {})).stderr).toBe('')
})

test('serve names itself by its public URL', async () => {
  await whileServing('serve --data-dir lib --json --public-url https://library.example', async (line) => {
    const { url, tokenFile } = JSON.parse(line)
    const token = readFileSync(tokenFile, 'utf8').trim()
    const created = await fetch(`${url}${API_PREFIX}${ROUTES.createLibrary.path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'behind a proxy' }),
    })
    expect(created.headers.get('location')).toMatch(/^https:\/\/library\.example\/api\/v1\/libraries\//)
  })
  for (const wrong of ['library.example', 'http://library.example', 'https://library.example/path']) {
    const refused = await shelfd(`serve --data-dir lib --public-url ${wrong}`)
    expect(refused).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('it must be an origin such as') })
  }
})

test('serve refuses a port that is too large', async () => {
  expect(await shelfd('serve --port 70000')).toMatchObject({ exitCode: 2 })
})

test('serve check exits by what it finds, served or not', async () => {
  await whileServing('serve --data-dir checked', async () => {
    expect(await shelfd('serve check --data-dir checked')).toMatchObject({ exitCode: 0, stdout: '' })
  })
  const whole = await shelfd('serve check --data-dir checked --json')
  expect([whole.exitCode, JSON.parse(whole.stdout)]).toEqual([0, { contents: 0, sizeBytes: 0, problems: [] }])
  const database = join(home, 'checked', 'library.sqlite')
  writeFileSync(database, readFileSync(database).fill(0x5a, 4_096, 8_192))
  const damaged = await shelfd('serve check --data-dir checked')
  expect(damaged).toMatchObject({
    exitCode: 78,
    stdout: expect.stringMatching(/is damaged.*\n {4}stop the server and/),
  })
  expect(damaged.stderr).toContain('1 problem')
  expect(await shelfd('serve check --data-dir nowhere')).toMatchObject({ exitCode: 2 })
})

describe('serve tokens', () => {
  test('tokens are created, listed and revoked while the server runs', async () => {
    await whileServing('serve --data-dir lib --json', async (line) => {
      const { url } = JSON.parse(line)
      const created = await shelfd('serve tokens create reader --access read --expires 30d --data-dir lib')
      const whoami = () => shelfd('whoami', { env: { SHELFD_SERVICE_URL: url, SHELFD_TOKEN: created.stdout.trim() } })
      expect(await whoami()).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('library.all.read') })
      const listed = await shelfd('serve tokens list --data-dir lib')
      expect(listed.stdout).toMatch(/reader +valid until \d{4}-\d\d-\d\d/)
      expect(listed.stdout).not.toContain(created.stdout.trim())
      expect((await shelfd('serve tokens revoke reader --data-dir lib')).exitCode).toBe(0)
      expect(await whoami()).toMatchObject({ exitCode: 7 })
      expect((await shelfd('serve tokens revoke reader --data-dir lib')).exitCode).toBe(2)
    })
  })

  test('a token is valid for 90 days unless it is made to last', async () => {
    await whileServing('serve --data-dir lasting', async () => {})
    for (const [name, flags] of [
      ['short', ''],
      ['lasting', '--expires never'],
    ])
      expect(await shelfd(`serve tokens create ${name} --access read ${flags} --data-dir lasting`)).toMatchObject({
        exitCode: 0,
      })
    const { stdout } = await shelfd('serve tokens list --data-dir lasting')
    const day = new Date(Date.now() + 90 * 86_400_000).toISOString().slice(0, 10)
    expect(stdout).toMatch(new RegExp(`^short +valid until ${day} `, 'm'))
    expect(stdout).toMatch(/^lasting +valid for ever /m)
  })

  test('the token commands need a library, known rights and a valid time', async () => {
    expect(await shelfd('serve tokens list --data-dir nowhere')).toMatchObject({ exitCode: 2 })
    expect(await shelfd('serve tokens create x --access write --data-dir lib')).toMatchObject({ exitCode: 2 })
    expect(await shelfd('serve tokens create x --access read --expires soon --data-dir lib')).toMatchObject({
      exitCode: 2,
    })
  })
})
