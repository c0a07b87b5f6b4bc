import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { openStore } from '../../src/store/open-store.ts'
import { createHome } from '../cli/run-with.ts'
import { configure } from '../support/daemon.ts'
import { startFaultyService } from '../support/faulty-service.ts'
import { expectExit, type Home, homeWithPapers, temporaryHome, variablesOf } from '../support/home.ts'

const REFUSAL = { status: 422, body: { message: 'Unprocessable', errors: { file: ['no such kind'] } } }
const BAD = /^bad/
const IGNORED = 'Set aside: 1 file; "shelfd failed retry" undoes this\n'

/** Two files of one content that the service refuses, and a good one. */
async function refusedHome() {
  const service = await startFaultyService({ library: 'Research' })
  service.answer = ({ fileName }) => (fileName && BAD.test(fileName) ? REFUSAL : undefined)
  const home = temporaryHome(service)
  const root = home.write('Papers', { 'sub/bad.md': 'bad', 'sub/bad-copy.md': 'bad', 'good.md': 'good' })
  expect((await home.sync(['Papers', '--to', 'Research'])).exitCode).toBe(1)
  return { service, home, root }
}

async function listFailed(home: Home, ...flags: string[]) {
  const { exitCode, stdout, stderr } = await home.shelfd(['failed', 'list', '--json', ...flags])
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' })
  return JSON.parse(stdout).contents
}

test('failed list has one row for a content of several files', async () => {
  const { home, root } = await refusedHome()
  expect(await listFailed(home)).toEqual([
    expect.objectContaining({
      stage: 'upload',
      code: 'invalid',
      message: expect.stringContaining('no such kind'),
      tries: 1,
      since: expect.stringMatching(/^\d{4}-/),
      retryAt: expect.stringMatching(/^\d{4}-/),
      isSetAside: false,
      files: [
        { mirror: 'Papers', root, path: 'sub/bad-copy.md' },
        { mirror: 'Papers', root, path: 'sub/bad.md' },
      ],
    }),
  ])
  const { stdout } = await home.shelfd(['failed', 'list'])
  expect(stdout).toContain(`${root}/sub/bad-copy.md (and 1 more)`)
})

test('failed list is empty before the first sync', async () => {
  const { exitCode, stdout, stderr } = await temporaryHome().shelfd(['failed', 'list'])
  expect({ exitCode, stdout, stderr }).toEqual({ exitCode: 0, stdout: '', stderr: 'Nothing is in quarantine\n' })
})

test('failed list points to problems that are no failed uploads', async () => {
  const home = temporaryHome()
  const path = home.write('Papers', { 'a.md': 'A', 'long.md': 'B'.repeat(9), 'longer.md': 'C'.repeat(10) })
  configure(home, { mirrors: [{ name: 'Papers', path, maxSize: '5B' }] })
  expect((await home.shelfd(['sync'])).exitCode).toBe(1)
  const listed = await home.shelfd(['failed', 'list'])
  expect(listed).toEqual({
    exitCode: 0,
    stdout: '',
    stderr: 'No upload failed; there are 2 other problems: shelfd status\n',
  })
  expect((await home.shelfd(['failed', 'ignore', 'long.md'])).stderr, 'as sync prints it').toBe(IGNORED)
  const rest = 'there is 1 other problem: shelfd status; 1 was set aside: shelfd failed --all\n'
  expect((await home.shelfd(['failed'])).stderr).toBe(`No upload failed; ${rest}`)
  const broken = home.write('Broken', { 'torn.docx': 'PK\x03\x04torn' })
  expect((await home.shelfd(['sync', broken])).exitCode).toBe(1)
  const { stdout, stderr } = await home.shelfd(['failed'])
  expect(stdout).toContain('torn.docx')
  const howTo = 'Runs exit 1 until each problem is solved or set aside: shelfd failed ignore PATH\n'
  expect(stderr, 'beside the failures').toBe(`Besides, ${rest}${howTo}`)
  const all = await home.shelfd(['failed', '--all'])
  expect(all.stderr, 'all that was set aside is listed').toBe(
    `Besides, there is 1 other problem: shelfd status\n${howTo}`,
  )
})

test('failed list prints blocks on a narrow terminal', async () => {
  const service = await startFaultyService({ library: 'Research' })
  service.answer = ({ fileName }) => (fileName ? REFUSAL : undefined)
  const { home, shelfd } = createHome()
  const root = join(home, 'Papers-with-a-name-that-is-quite-long')
  mkdirSync(root)
  writeFileSync(join(root, 'bad.md'), 'bad')
  const env = variablesOf(service)
  await shelfd(`sync ${root} --to Research`, { env })
  const { stdout } = await shelfd('failed list', { env, isTerminal: true, columns: 80 })
  expect(stdout.split('\n')[0], 'the whole path, to copy').toBe(join(root, 'bad.md'))
  expect(stdout).toMatch(
    /\n {2}Cannot upload [^[]*no such kind[^[]* \[invalid\]\n {2}since \d\d:\d\d:\d\d; next try \d\d:\d\d:\d\d\n$/,
  )
  expect((await shelfd('failed list', { env, isTerminal: true, columns: 300 })).stdout).toMatch(/^PATH +CODE/)
})

test('failed list has resources whose ingestion failed', async () => {
  const service = await startFaultyService({ library: 'Research' })
  service.rewrite = ({ route }, body) => (route === 'showResource' ? { ...body, ingestion_status: 'failed' } : body)
  const home = homeWithPapers({ 'a.md': 'A' }, service)
  await home.sync(['Papers', '--to', 'Research'])
  expect(await listFailed(home)).toMatchObject([{ stage: 'ingestion', resourceId: expect.any(String) }])
  service.rewrite = (_, body) => body
  expect((await home.shelfd(['failed', 'retry', '--all'])).exitCode).toBe(0)
  expect((await home.sync(['Papers'])).exitCode).toBe(0)
  expect(await listFailed(home)).toEqual([])
})

test('failed show finds a content by path, directory and hash', async () => {
  const { home } = await refusedHome()
  const [{ sha256 }] = await listFailed(home)
  for (const word of ['Papers/sub/bad.md', 'Papers/sub', 'Papers', sha256.slice(0, 8)]) {
    const { exitCode, stdout } = await home.shelfd(['failed', 'show', word])
    expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: expect.stringContaining(sha256) })
  }
})

test('failed show refuses a content that is not in quarantine', async () => {
  const { home } = await refusedHome()
  expectExit(await home.shelfd(['failed', 'show', 'Papers/good.md']), 2, /Cannot find ".*" in the quarantine/)
})

describe('failed retry', () => {
  test('failed retry sends nothing itself, but the next run does', async () => {
    const { service, home } = await refusedHome()
    service.answer = () => undefined
    service.forget()
    expect((await home.sync(['Papers'])).exitCode).toBe(1)
    const { exitCode, stderr } = await home.shelfd(['failed', 'retry', 'Papers/sub/bad.md'])
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: 'Due now: 1 file\n' })
    expect(service.count('uploadFile')).toBe(0)
    const { exitCode: after, mirror } = await home.sync(['Papers'])
    expect({ after, created: mirror.uploads.created }).toEqual({ after: 0, created: 1 })
    expect(await listFailed(home)).toEqual([])
  })

  test('failed takes the path that sync prints', async () => {
    const { home } = await refusedHome()
    expect((await home.shelfd(['failed', 'show', 'sub/bad.md'])).stdout).toContain('no such kind')
    expect((await home.shelfd(['failed', 'ignore', 'sub/bad-copy.md'])).stderr).toBe(IGNORED)
    expectExit(await home.shelfd(['failed', 'show', 'nothing.md']), 2, /lies in no mirror/)
  })

  test('failed retry needs either contents or --all', async () => {
    const { home } = await refusedHome()
    expect((await home.shelfd(['failed', 'retry'])).exitCode).toBe(2)
    expect((await home.shelfd(['failed', 'retry', 'Papers', '--all'])).exitCode).toBe(2)
  })
})

test('failed ignore makes runs succeed and stops the uploads', async () => {
  const { service, home, root } = await refusedHome()
  expect((await home.shelfd(['failed', 'ignore', 'Papers/sub'])).stderr).toBe(IGNORED)
  makeDueByTime(home)
  service.forget()
  expect((await home.sync(['Papers'])).exitCode).toBe(0)
  expect(service.count('uploadFile')).toBe(0)
  expect(await listFailed(home)).toEqual([])
  expect((await home.shelfd(['failed'])).stderr).toBe(
    'Nothing is in quarantine; 1 was set aside: shelfd failed --all\n',
  )
  expect(await listFailed(home, '--all')).toMatchObject([{ isSetAside: true, retryAt: null }])
  expect((await home.json(['status'])).mirrors[0]).toMatchObject({
    files: { needAttention: 0, setAside: 2 },
    problems: [],
  })
  const report = await home.shelfd(['report', '--json', '--only', 'needs-attention'])
  expect(JSON.parse(report.stdout).mirrors[0].entries[0].reason).toMatch(/^set aside: .*no such kind/)
  expect((await home.shelfd(['report'])).stdout).toContain(
    '  !        2 needs-attention\n           1 of them a copy of another\n           2 of them set aside\n',
  )
  const forPeople = (await home.shelfd(['report', '--format', 'markdown'])).stdout
  expect(forPeople).not.toContain('need you')
  expect(forPeople).toContain('set aside')
  service.answer = () => undefined
  writeFileSync(join(root, 'sub', 'bad.md'), 'corrected')
  expect((await home.sync(['Papers'])).mirror.uploads.created).toBe(1)
})

test('failed retry takes back failed ignore', async () => {
  const { home } = await refusedHome()
  await home.shelfd(['failed', 'ignore', 'Papers/sub'])
  await home.shelfd(['failed', 'retry', 'Papers/sub'])
  expect(await listFailed(home)).toMatchObject([{ isSetAside: false }])
  expect((await home.sync(['Papers'])).exitCode).toBe(1)
})

test('a pause is stored, shown, and ended by resume', async () => {
  const home = homeWithPapers({ 'a.md': 'A' })
  await home.sync(['Papers'])
  const isPaused = async () => (await home.json(['status'])).mirrors[0].isPaused
  const { exitCode, stderr } = await home.shelfd(['pause', 'Papers'])
  expect({ exitCode, stderr }).toEqual({
    exitCode: 0,
    stderr: 'Paused: Papers; no daemon runs now, and "shelfd sync" ignores a pause\n',
  })
  expect(await isPaused()).toBe(true)
  expect((await home.sync(['Papers'])).exitCode).toBe(0)
  expect((await home.shelfd(['resume', '--json'])).stdout).toBe('{"resumed":"all"}\n')
  expect(await isPaused()).toBe(false)
})

test('pause refuses an unknown mirror', async () => {
  expectExit(await temporaryHome().shelfd(['pause', 'nothing']), 2, /Cannot find the mirror "nothing"/)
})

test('pause fails while another process holds the store', async () => {
  const home = temporaryHome()
  mkdirSync(home.stateDir, { recursive: true })
  using _held = openStore(home.stateDir)
  expect((await home.shelfd(['pause'])).exitCode).toBe(11)
})

/** Lets the quarantine of the content end by time. */
function makeDueByTime(home: Home): void {
  using store = openStore(home.stateDir)
  const [row] = store.quarantine.list()
  if (!row) throw new Error('Nothing is in quarantine')
  store.write(() => {
    store.contents.setProblem(row.contentId, { code: row.code, message: row.message ?? '', retryAt: 0 })
  })
}

test('an encrypted file is not tried again before it changes, and every message says how to set it aside', async () => {
  const home = homeWithPapers({ 'sealed.eml': 'From: ada@example.com\nContent-Type: application/pkcs7-mime\n\nMIIB\n' })
  const first = await home.shelfd(['sync', 'Papers'])
  expect(first.exitCode).toBe(1)
  expect(first.stdout).toMatch(/sealed\.eml: ingestion ended failed: The message is encrypted.*\[ingestion-failed\]\n/)
  const ignore = /^ *Runs exit 1 until each problem is solved or set aside: shelfd failed ignore PATH$/m
  expect(first.stdout).toMatch(ignore)
  expect((await home.shelfd(['status'])).stdout).toMatch(ignore)
  const list = await home.shelfd(['failed', 'list'])
  expect(list.stderr).toMatch(ignore)
  expect(list.stdout).toContain('when it changes')
  const again = await home.shelfd(['sync'])
  expect(again).toMatchObject({ exitCode: 1, stdout: expect.not.stringContaining('tried again') })
  expect((await home.json(['failed', 'list'])).contents).toMatchObject([{ tries: 1, retryAt: null }])
  await home.shelfd(['failed', 'retry', 'Papers/sealed.eml'])
  await home.sync([])
  expect((await home.json(['failed', 'list'])).contents).toMatchObject([{ tries: 2, retryAt: null }])
  home.write('Papers', { 'sealed.eml': 'From: ada@example.com\n\nOpen.\n' })
  expect((await home.sync([])).exitCode).toBe(0)
})
