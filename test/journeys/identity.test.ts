import { cpSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { createToken } from '../../src/embedded/access/manage-tokens.ts'
import { dumpStore } from '../support/dump-store.ts'
import { mirrorOf, startEngine } from '../support/engine.ts'
import { createLibrary, startFaultyService } from '../support/faulty-service.ts'
import { expectExit, type Home, homeWithPapers, type Variables, variablesOf } from '../support/home.ts'
import { homeOnService } from '../support/home-on-service.ts'
import { temporaryDirectory, writeTree } from '../support/temporary.ts'

const TO = ['Papers', '--to', 'Research']

/** A pinned mirror with a new file to send. */
async function pinnedHome() {
  const { service, home, root } = await homeOnService({ 'a.md': 'A' })
  expect((await home.sync(TO)).exitCode).toBe(0)
  writeFileSync(join(root, 'new.md'), 'new')
  return { service, home, root }
}

/** Expects exit 7 with this message, and an unchanged store. */
async function expectRefusal(home: Home, args: readonly string[], env: Variables, text: RegExp): Promise<void> {
  const before = dumpStore(home.stateDir)
  expectExit(await home.shelfd(['sync', ...args], env), 7, text)
  expect(dumpStore(home.stateDir)).toEqual(before)
}

describe('pinned mirrors (P15)', () => {
  test('a pinned mirror refuses another origin, also of the same library [P15]', async () => {
    const { service, home } = await pinnedHome()
    const other = { url: service.library.url, token: service.token }
    await expectRefusal(home, TO, variablesOf(other), /belongs to http/)
    const named =
      /belongs to http.*, not to http\S* \(by SHELFD_SERVICE_URL\); correct the address; if it is right, "shelfd/
    await expectRefusal(home, ['Papers'], variablesOf(other), named)
  })

  test('a pinned mirror refuses another tenant [P15]', async () => {
    const { service, home } = await pinnedHome()
    service.forget()
    service.rewrite = ({ route }, body) =>
      route === 'checkAccess' ? { ...body, tenant: { id: 4711, name: 'Other', slug: 'other' } } : body
    await expectRefusal(home, ['Papers'], {}, /tenant/)
    expect(service.requests.map(({ route }) => route)).not.toContain('uploadFile')
  })

  test('a pinned mirror refuses another library [P15]', async () => {
    const { service, home, root } = await pinnedHome()
    await createLibrary(service, 'Second')
    const config = (library: string) =>
      `service: { url: "${service.url}" }\nmirrors:\n  - { name: papers, path: "${root}", library: ${library} }\n`
    home.write('config/shelfd', { 'config.yaml': config('Research') })
    expect((await home.sync(['papers'])).exitCode).toBe(0)
    home.write('config/shelfd', { 'config.yaml': config('Second') })
    await expectRefusal(home, ['papers'], {}, /belongs to the library "Research"/)
  })

  test('a pinned mirror refuses a library that its credential cannot read [P15]', async () => {
    const { service, home } = await pinnedHome()
    await createLibrary(service, 'Second')
    const spec = { name: 'narrow', access: ['read', 'resource.create', 'update'], libraries: ['Second'] } as const
    const token = createToken(service.dataDir, spec, Date.now())
    await expectRefusal(home, ['Papers'], { SHELFD_TOKEN: token }, /cannot read/)
  })

  test('a pinned mirror refuses another directory at its path [P15]', async () => {
    const { home, root } = await pinnedHome()
    renameSync(root, `${root}.away`)
    mkdirSync(root)
    await expectRefusal(home, ['Papers'], {}, /not the directory.*"shelfd sync Papers --accept-root"/)
  })

  test('a pinned mirror refuses another embedded library [P15]', async () => {
    const home = homeWithPapers({ 'a.md': 'A' })
    expect((await home.sync(['Papers'])).exitCode).toBe(0)
    await expectRefusal(
      home,
      ['Papers'],
      { SHELFD_DATA_DIR: join(home.path, 'other') },
      /belongs to another library on this computer \(embedded:\S+\), not to the one in use.*SHELFD_DATA_DIR; if it is lost, "shelfd mirrors forget/,
    )
    const other = { SHELFD_DATA_DIR: join(home.path, 'other') }
    expect((await home.shelfd(['status'], other)).stdout).toMatch(/1 file searchable at its last run$/m)
    const { stdout } = await home.shelfd(['why', 'Papers/a.md'], other)
    expect(stdout).toMatch(/^in the library +The mirror "Papers" belongs to another library/m)
  })
})

describe('accepted roots', () => {
  test('an accepted root is pinned, and only its new file is sent', async () => {
    const { service, home, root } = await pinnedHome()
    cpSync(root, `${root}.restored`, { recursive: true })
    rmSync(root, { recursive: true })
    renameSync(`${root}.restored`, root)
    service.forget()
    expect((await home.sync(['Papers', '--accept-root', '--dry-run'])).exitCode).toBe(0)
    await expectRefusal(home, ['Papers'], {}, /not the directory/)
    expect((await home.sync(['Papers', '--accept-root'])).exitCode).toBe(0)
    expect(service.count('uploadFile')).toBe(1)
    expect((await home.sync(['Papers'])).exitCode).toBe(0)
  })

  test('a root at another path can be accepted', async () => {
    const { home, root } = await pinnedHome()
    const config = (path: string) =>
      `mirrors:\n  - { name: Papers, path: "${path}", library: Research, remotePath: /Papers }\n`
    renameSync(root, `${root}.moved`)
    home.write('config/shelfd', { 'config.yaml': config(`${root}.moved`) })
    await expectRefusal(home, ['Papers'], {}, /the configuration now names.*--accept-root/)
    const { exitCode, mirror } = await home.sync(['Papers', '--accept-root'])
    expect({ exitCode, uploads: mirror.uploads }).toMatchObject({ exitCode: 0, uploads: { created: 1, duplicates: 0 } })
    expect((await home.shelfd(['why', `${root}.moved/a.md`])).exitCode).toBe(0)
  })

  test('a root is not pinned while a guard holds the run back', async () => {
    const { home, root } = await pinnedHome()
    writeTree(root, { '1.md': '1', '2.md': '2', '3.md': '3', '4.md': '4' })
    expect((await home.sync(['Papers'])).exitCode).toBe(0)
    renameSync(root, `${root}.away`)
    mkdirSync(root)
    expect((await home.shelfd(['sync', 'Papers', '--accept-root'])).exitCode).toBe(8)
    rmSync(root, { recursive: true })
    renameSync(`${root}.away`, root)
    expect((await home.sync(['Papers'])).exitCode).toBe(0)
  })
})

describe('credentials and libraries', () => {
  test('a credential without the right to create is refused [F-SV-07]', async () => {
    await using service = await startFaultyService({ library: 'Research' })
    const token = createToken(
      service.dataDir,
      { name: 'reader', access: ['read'], libraries: ['Research'] },
      Date.now(),
    )
    const home = homeWithPapers({ 'a.md': 'A' }, { url: service.url, token })
    expectExit(await home.shelfd(['sync', ...TO]), 7, /resource\.create/)
    expect(service.requests.every(({ method }) => method === 'GET')).toBe(true)
  })

  test('a credential without the right to create directories is refused [F-SV-07]', async () => {
    await using service = await startFaultyService({ library: 'Research' })
    const spec = { name: 'uploader', access: ['read', 'resource.create'], libraries: ['Research'] } as const
    const home = homeWithPapers(
      { 'a.md': 'A' },
      { url: service.url, token: createToken(service.dataDir, spec, Date.now()) },
    )
    expectExit(await home.shelfd(['sync', ...TO]), 7, /update/)
  })

  test('a credential revoked during a run stops the run [F-SV-06]', async () => {
    const { service, home } = await pinnedHome()
    service.answer = ({ route }) => (route === 'uploadFile' ? { status: 401, body: { message: 'no' } } : undefined)
    const { exitCode, mirror } = await home.sync(TO)
    expect(exitCode).toBe(7)
    expect(mirror.uploads).toMatchObject({ created: 0, inDoubt: 0 })
  })
})

describe('runs over several mirrors', () => {
  test('a missing directory does not stop the other mirrors', async () => {
    const { tested } = await startEngine()
    const good = mirrorOf(writeTree(temporaryDirectory(), { 'a.md': 'A' }))
    const gone = { ...good, name: 'gone', path: join(good.path, 'nowhere'), remotePath: '/gone' }
    const { summary, failure } = await tested.sync([gone, good])
    expect(failure).toMatchObject({ kind: 'root', code: 'root-missing' })
    expect(summary.verdict).toBe('failed')
    expect(summary.mirrors.map(({ uploads }) => uploads.created)).toEqual([0, 1])
    expect(summary.mirrors[0]?.problems).toMatchObject([{ code: 'root-missing' }])
  })

  test('an unreachable service stops a run over several mirrors', async () => {
    const { service, tested } = await startEngine()
    const root = temporaryDirectory()
    const mirrors = ['one', 'two'].map((name) => mirrorOf(writeTree(join(root, name), { 'a.md': 'A' })))
    await service[Symbol.asyncDispose]()
    const { summary, failure } = await tested.sync(mirrors)
    expect(failure).toMatchObject({ kind: 'temporary', code: 'service-unreachable' })
    expect(summary.mirrors.map(({ problems }) => problems.map(({ message }) => message.slice(0, 13)))).toEqual([
      ['Cannot check '],
      ['Not synced, b'],
    ])
  })
})
