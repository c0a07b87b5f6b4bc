import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startEmbeddedLibrary } from '../../src/embedded/start-embedded.ts'
import { ServiceClient } from '../contract/service-client.ts'
import { createHome } from './run-with.ts'

const { home, shelfd } = createHome()
let library: Awaited<ReturnType<typeof startEmbeddedLibrary>>
let env: Record<string, string>

beforeAll(async () => {
  library = await startEmbeddedLibrary({ dataDir: join(home, 'data') })
  env = { SHELFD_SERVICE_URL: library.url, SHELFD_TOKEN: library.token }
})

afterAll(() => library[Symbol.asyncDispose]())

const run = (line: string | readonly string[], more = {}) => shelfd(line, { env, ...more })
const json = async (line: string) => JSON.parse((await run(`${line} --json`)).stdout)

describe('libraries and directories', () => {
  test('libraries and directories are created, shown, listed and deleted', async () => {
    const { id } = await json('libraries create Alpha --overview About')
    expect(await json('libraries show Alpha')).toMatchObject({ id, name: 'Alpha', overview: 'About' })
    expect(await json('libraries list')).toContainEqual(expect.objectContaining({ id, name: 'Alpha' }))
    expect((await run('libraries list')).stdout).toMatch(new RegExp(`^ID +LIBRARY +RIGHTS\n[^]*${id} +Alpha +read`))
    expect((await run('mkdir -p Alpha:/a/b')).stdout).toBe('created  /a\ncreated  /a/b\n')
    expect((await run('mkdir Alpha:/a')).stdout).toBe('existing  /a\n')
    expect(await json('ls Alpha:/a')).toMatchObject({ folders: [{ name: 'b' }], files: [] })
    expect((await run(`libraries delete ${id} --confirm Alpha`)).exitCode).toBe(0)
    expect(await run('libraries show Alpha')).toMatchObject({ exitCode: 2 })
  })

  test('a library is deleted only by its name [P7]', async () => {
    await run('libraries create Kept')
    expect(await run('libraries delete Kept')).toMatchObject({ exitCode: 8 })
    expect(await run('libraries delete Kept --confirm kept')).toMatchObject({ exitCode: 8 })
    expect(await run('libraries delete Kept', { isTerminal: true, stdin: 'no\n' })).toMatchObject({ exitCode: 8 })
    expect((await run('libraries show Kept')).exitCode).toBe(0)
    const asked = await run('libraries delete Kept', { isTerminal: true, stdin: 'Kept\n' })
    expect(asked.stderr).toContain('Type its name: ')
    expect(asked.exitCode).toBe(0)
  })

  test('names from outside cannot write to the terminal [S-08]', async () => {
    await run(['libraries', 'create', 'Evil\u001b[2J\u202e'])
    for (const line of ['libraries list', 'libraries list --json', 'whoami']) {
      const { stdout } = await run(line)
      expect(stdout).not.toContain('\u001b')
      expect(stdout).not.toContain('\u202e')
      expect(stdout).toContain('Evil')
    }
  })
})

describe('resources', () => {
  let id: string

  beforeAll(async () => {
    const created = await json('libraries create Papers')
    const file = { name: 'solar.md', content: '# Solar sails\n\nLight pushes.', type: 'text/markdown' }
    id = await new ServiceClient(library).uploaded(created.id, file)
    await library.settled()
  })

  test('resources are shown, found and given a URL', async () => {
    expect(await json(`resource show ${id}`)).toMatchObject({ id, ingestion_status: 'completed' })
    expect((await run(`resource show ${id} --library Papers`)).stdout).toContain('completed (searchable)')
    expect(await json('search solar sails --strategy lexical')).toMatchObject({ results: [{ resource: { id } }] })
    expect((await run('search --library Papers sail')).stdout).toMatch(
      /^1 {2}solar\.md\n {3}Markdown, 28 B, added .*\n {3}# Solar \*\*sails\*\* Light pushes/,
    )
    const nothing = await run('search nothing-like-it --strategy lexical')
    expect(nothing).toMatchObject({ stdout: 'Nothing matched\n', stderr: '' })
    const { stdout } = await run(`resource url ${id} --ttl 5`)
    expect(await (await fetch(stdout.trim())).text()).toContain('Light pushes.')
  })

  test('a resource is downloaded to stdout, a file or a directory', async () => {
    const text = '# Solar sails\n\nLight pushes.'
    expect((await run(`resource download ${id}`)).stdout).toBe(text)
    expect((await run(`resource download ${id} -o mine.md`)).exitCode).toBe(0)
    expect(readFileSync(join(home, 'mine.md'), 'utf8')).toBe(text)
    writeFileSync(join(home, 'mine.md'), 'changed')
    expect(await run(`resource download ${id} -o mine.md`)).toMatchObject({ exitCode: 2 })
    expect(readFileSync(join(home, 'mine.md'), 'utf8')).toBe('changed')
    expect((await run(`resource download ${id} -o mine.md --force`)).exitCode).toBe(0)
    mkdirSync(join(home, 'here'))
    const { file } = await json(`resource download ${id} -o here`)
    expect(file).toMatch(/here\/solar[^/]*\.md$/)
    expect(readFileSync(file, 'utf8')).toBe(text)
  })

  test('assets of a resource are downloaded and linked', async () => {
    const { assets } = await json(`resource show ${id}`)
    const asset: string = assets[0].id
    expect((await run(`asset download ${asset}`)).stdout).toContain('Light pushes.')
    const { stdout } = await run(`asset url ${asset}`)
    expect((await fetch(stdout.trim())).status).toBe(200)
    expect(await run(`asset url ${asset} --representation frame`)).toMatchObject({ exitCode: 2 })
    expect(await run(`asset frame ${asset} --at 1`)).toMatchObject({ exitCode: 1 })
  })

  test('a resource that does not exist is an error', async () => {
    expect(await run('resource show nothing')).toMatchObject({ exitCode: 1, stdout: '' })
    expect(await run('resource download nothing')).toMatchObject({ exitCode: 1, stdout: '' })
  })
})

test('api passes the body through, and its exit code shows a failure', async () => {
  const listed = await run('api GET /v1/libraries?limit=1')
  expect(JSON.parse(listed.stdout)).toMatchObject({ limit: 1 })
  expect(await run('api get /v1/libraries/none')).toMatchObject({ exitCode: 1 })
  expect(await json('api GET /v1/libraries/none')).toMatchObject({ status: 404 })
})

test('api takes data from the line, a file and stdin', async () => {
  writeFileSync(join(home, 'body.json'), '{"name":"FromFile"}')
  await run(['api', 'POST', '/v1/libraries', '--data', '{"name":"FromLine"}'])
  await run('api POST /v1/libraries --data @body.json')
  await run('api POST /v1/libraries --data @-', { stdin: '{"name":"FromStdin"}' })
  const names = (await json('libraries list')).map(({ name }: { name: string }) => name)
  expect(names).toEqual(expect.arrayContaining(['FromLine', 'FromFile', 'FromStdin']))
  expect(await run('api POST /v1/libraries --data {')).toMatchObject({ exitCode: 2 })
})

describe('credentials', () => {
  test('a wrong credential is refused, a missing one explains how to give it', async () => {
    const wrong = await shelfd('whoami', { env: { ...env, SHELFD_TOKEN: 'wrong' } })
    expect(wrong).toMatchObject({ exitCode: 7, stdout: '' })
    const missing = await shelfd('whoami', { env: { SHELFD_SERVICE_URL: library.url } })
    expect(missing.exitCode).toBe(7)
    expect(missing.stderr).toContain('service.tokenFile')
  })

  test('a credential that may delete gets a warning [S-13]', async () => {
    const { stdout, stderr } = await run('whoami')
    expect(stdout).toContain('Owner <')
    expect(stderr).toContain('warning: this credential may delete')
  })

  test('an unreachable service is temporary', async () => {
    const unreachable = { ...env, SHELFD_SERVICE_URL: 'http://127.0.0.1:9' }
    expect(await shelfd('whoami', { env: unreachable })).toMatchObject({ exitCode: 5, stdout: '' })
  })

  test('the token is in no output of any command [P22, S-04]', async () => {
    const token = library.token
    writeFileSync(join(home, 'echo.json'), JSON.stringify({ name: `x ${token}` }))
    const lines = [
      'whoami',
      'whoami --json -vv --log-format json',
      'config show',
      'config show --json',
      'libraries list -vv',
      'libraries show none',
      `libraries show ${token}`,
      `resource show ${token} -vv`,
      `ls ${token}:/x`,
      `search ${token} --json`,
      'api POST /v1/libraries --data @echo.json --json',
      'libraries list',
      'api GET /v1/libraries --json',
    ]
    for (const line of lines) {
      const { stdout, stderr } = await run(line)
      expect((stdout + stderr).includes(token) ? line : 'clean').toBe('clean')
    }
  })
})
