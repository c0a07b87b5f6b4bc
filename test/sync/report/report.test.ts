import { readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { untilAborted } from '../../../src/foundation/concurrency/waits.ts'
import { InterruptedError } from '../../../src/foundation/errors.ts'
import { type FileSystem, nodeFileSystem } from '../../../src/local/read/file-system.ts'
import type { MirrorSettings } from '../../../src/sync/engine.ts'
import { emptyBatch, type StartWalk } from '../../../src/sync/scan/scan-batch.ts'
import { ServiceClient } from '../../contract/service-client.ts'
import { dumpStore } from '../../support/dump-store.ts'
import { mirrorOf, openTestEngine, startEngine, type TestEngine } from '../../support/engine.ts'
import { randomFaults, startFaultyService } from '../../support/faulty-service.ts'
import { seededRandom } from '../../support/random.ts'
import { findFaultOfShortForm } from '../../support/short-report.ts'
import { manyFiles, temporaryDirectory, writeTree } from '../../support/temporary.ts'

/** Longer than any ingestion of this service takes, also on a busy machine. */
const PATIENCE_MS = 60_000

/** The `path` of each row, or its first remote path, by class. */
async function classesOf(tested: TestEngine, mirror: MirrorSettings): Promise<Record<string, string[]>> {
  const report = await tested.report([mirror])
  expect(findFaultOfShortForm(report)).toBeUndefined()
  const { rows } = report
  const classes: Record<string, string[]> = {}
  for (const { entry } of rows) {
    classes[entry.class] ??= []
    classes[entry.class]?.push(entry.path ?? entry.remotePaths[0] ?? '?')
  }
  for (const paths of Object.values(classes)) paths.sort()
  return classes
}

test('each class of the report is reached by what it means [P19]', async () => {
  const { service, tested } = await startEngine()
  const root = writeTree(temporaryDirectory(), {
    'same.md': 'same',
    'copy.md': 'same',
    'broken.md': 'broken',
    'changed.md': 'first',
    'edited.md': 'old',
    'gone.md': 'gone',
    'lost.md': 'lost',
    'refused.md': 'refused',
    '.DS_Store': 'litter',
  })
  const mirror = mirrorOf(root)
  const names = new Map<string, string>()
  service.answer = ({ route, fileName }) =>
    route === 'uploadFile' && fileName === 'refused.md' ? { status: 413, body: { message: 'too large' } } : undefined
  service.rewrite = ({ route, fileName, path }, body) => {
    if (route === 'uploadFile') names.set(String(body.id), String(fileName))
    const name = names.get(path.split('/').at(-1) ?? '')
    if (route === 'showResource' && name === 'slow.md') return { ...body, ingestion_status: 'running' }
    if (route === 'showResource' && name === 'broken.md') return { ...body, ingestion_status: 'partial' }
    if (route !== 'listDirectory' || !Array.isArray(body.files)) return body
    return { ...body, files: body.files.filter(({ id }) => names.get(id) !== 'lost.md') }
  }
  await tested.sync([mirror], { waitMs: PATIENCE_MS })
  writeFileSync(join(root, 'changed.md'), 'second')
  rmSync(join(root, 'gone.md'))
  await tested.sync([mirror], { waitMs: PATIENCE_MS })
  writeFileSync(join(root, 'slow.md'), 'slow')
  await tested.sync([mirror], { waitMs: 0 })
  writeFileSync(join(root, 'edited.md'), 'new')
  writeFileSync(join(root, 'fresh.md'), 'fresh')
  const libraryId = tested.store.mirrors.list()[0]?.library.remoteId ?? ''
  const foreign = { name: 'foreign.md', content: 'foreign', type: 'text/markdown' }
  expect((await new ServiceClient(service.library).upload(libraryId, foreign)).status).toBe(201)
  const [lostId] = [...names].find(([, name]) => name === 'lost.md') ?? []
  service.answer = ({ route, path }) =>
    route === 'showResource' && path.endsWith(`/${lostId}`) ? { status: 404, body: {} } : undefined

  expect(await classesOf(tested, mirror)).toEqual({
    'in-sync': ['changed.md', 'copy.md', 'same.md'],
    processing: ['slow.md'],
    'local-only': ['fresh.md'],
    'remote-only': ['/.inbox/foreign.md'],
    changed: ['edited.md'],
    superseded: ['changed.md', 'gone.md'],
    'missing-remotely': ['lost.md'],
    'needs-attention': ['broken.md', 'refused.md'],
    ignored: ['.DS_Store'],
  })
  const { rows } = await tested.report([mirror])
  const alias = rows.find(({ entry }) => entry.duplicateOf !== null)?.entry
  expect([alias?.class, [alias?.path, alias?.duplicateOf].sort()]).toEqual(['in-sync', ['copy.md', 'same.md']])

  service.answer = ({ route, path }) =>
    route === 'listDirectory' && path.includes('path=%2F.inbox') ? { status: 503, body: {} } : undefined
  const unknown = await classesOf(tested, mirror)
  expect(unknown.unknown).toEqual(['lost.md'])
  expect(unknown['missing-remotely']).toBeUndefined()
})

describe('a listing with faults', () => {
  test('a listing with many random faults loses nothing [P11]', async () => {
    const { service, tested, mirror } = await startEngine(manyFiles(80, 80))
    await tested.sync([mirror])
    service.fault = randomFaults(11, 0.3)
    const report = await tested.report([mirror])
    expect(report.listing).toBe('complete')
    expect(report.rows.filter(({ entry }) => entry.class !== 'in-sync')).toEqual([])
  })

  test.each([
    ['that fails', () => ({ status: 500, body: {} })],
    ['that is gone', () => ({ status: 404, body: {} })],
    ['that contradicts itself', () => page({ truncated: true })],
    ['whose cursor comes again', () => page({ truncated: true, next_cursor: 'again' })],
    ['that lacks its files', () => page({ files: undefined })],
    ['with a file without id', () => page({ files: [{ filename: 'a.md', title: 'a', slug: 'a', mime_type: 'x' }] })],
  ])('a page %s makes its files unknown, never missing [P11, F-SV-17]', async (_, answer) => {
    const { service, tested, mirror } = await startEngine({ 'a.md': 'A', 'sub/b.md': 'B', 'sub/deep/c.md': 'C' })
    await tested.sync([mirror])
    service.answer = ({ route, path }) => (route === 'listDirectory' && path.includes('%2Fsub&') ? answer() : undefined)
    const report = await tested.report([mirror])
    expect(report.listing).toBe('incomplete')
    const classes = await classesOf(tested, mirror)
    expect(classes).toEqual({ 'in-sync': ['a.md'], unknown: ['sub/b.md', 'sub/deep/c.md'] })
  })

  test('a report without the right to list is an error', async () => {
    const { service, tested, mirror } = await startEngine({ 'a.md': 'A' })
    await tested.sync([mirror])
    service.answer = ({ route }) => (route === 'listDirectory' ? { status: 403, body: {} } : undefined)
    await expect(tested.report([mirror])).rejects.toMatchObject({ kind: 'access', code: 'right-missing' })
  })
})

describe('a walk beside the listing', () => {
  /** A service whose listings wait, once a mirror of it is in sync. */
  async function withSlowListing() {
    const interruption = new AbortController()
    const { service, tested, mirror } = await startEngine({ 'a.md': 'A' }, { signal: interruption.signal })
    await tested.sync([mirror])
    const asked = Promise.withResolvers<void>()
    const release = Promise.withResolvers<void>()
    onTestFinished(() => release.resolve())
    service.onResponse = async ({ route }) => {
      if (route !== 'listDirectory') return
      asked.resolve()
      await release.promise
    }
    return { service, mirror, tested, interruption, asked: asked.promise, release: release.resolve }
  }

  /** A walk that begins and then finds nothing more until it is aborted. */
  function endlessWalk() {
    const begun = Promise.withResolvers<void>()
    const ended = Promise.withResolvers<void>()
    const startWalk: StartWalk = async function* (_, signal) {
      begun.resolve()
      yield emptyBatch()
      await untilAborted(signal)
      ended.resolve()
      throw signal.reason
    }
    return { startWalk, begun: begun.promise, ended: ended.promise }
  }

  test('the directory is walked while the service lists', async () => {
    const { mirror, tested, release } = await withSlowListing()
    const report = tested.report([mirror], {
      startWalk: async function* (options, signal) {
        yield* tested.engine.startWalk(options, signal)
        release()
      },
    })
    expect((await report).rows).toMatchObject([{ entry: { path: 'a.md', class: 'in-sync' } }])
  })

  test('a listing that is refused ends the walk', async () => {
    const { service, mirror, tested } = await withSlowListing()
    const { startWalk, begun, ended } = endlessWalk()
    service.answer = ({ route }) => (route === 'listDirectory' ? { status: 403, body: {} } : undefined)
    await expect(tested.report([mirror], { startWalk })).rejects.toMatchObject({ code: 'right-missing' })
    await Promise.all([begun, ended])
  })

  test('a walk that fails ends the listing', async () => {
    const { mirror, tested, asked } = await withSlowListing()
    const report = tested.report([mirror], {
      startWalk: async function* () {
        yield emptyBatch()
        await asked
        throw new Error('out of memory')
      },
    })
    await expect(report).rejects.toThrow('out of memory')
  })

  test('a missing root does not wait for the listing', async () => {
    const { mirror, tested } = await withSlowListing()
    rmSync(mirror.path, { recursive: true })
    await expect(tested.report([mirror])).rejects.toMatchObject({ code: 'root-missing' })
  })

  test('an interruption ends the listing and the walk', async () => {
    const { mirror, tested, interruption, asked } = await withSlowListing()
    const { startWalk, begun, ended } = endlessWalk()
    const report = tested.report([mirror], { startWalk })
    const failure = expect(report).rejects.toMatchObject({ code: 'interrupted' })
    await Promise.all([begun, asked])
    interruption.abort(new InterruptedError())
    await failure
    await ended
  })
})

test('a directory that cannot be read keeps its files in the store [P11, F-FS-04]', async () => {
  let refused = ''
  const fs = refusing((path) => refused !== '' && path.endsWith(refused))
  const { service, tested, mirror } = await startEngine({ 'a.md': 'A', 'sub/b.md': 'B', 'sub/deep/c.md': 'C' }, { fs })
  await tested.sync([mirror])
  const before = dumpStore(tested.stateDir)
  refused = '/sub'
  const { summary, outcome } = await tested.sync([mirror])
  expect(outcome).toBe('failures')
  expect(summary.mirrors[0]?.files).toMatchObject({ removed: 0, moved: 0, new: 0 })
  expect(summary.mirrors[0]?.problems).toMatchObject([{ path: 'sub', code: 'unreadable' }])
  const { problem: _, ...after } = dumpStore(tested.stateDir)
  expect({ ...after, problem: [] }).toEqual(before)
  expect(await classesOf(tested, mirror)).toEqual({
    'in-sync': ['a.md'],
    'needs-attention': ['sub'],
    unknown: ['sub/b.md', 'sub/deep/c.md'],
  })
  refused = ''
  expect((await tested.sync([mirror])).outcome).toBe('done')
  expect(dumpStore(tested.stateDir)).toEqual(before)
  expect(service.count('uploadFile')).toBe(3)
})

test.each([1, 2, 3, 4, 5, 6, 7, 8])(
  'every file is in one class after any changes (P19, seed %i) [P3, P19]',
  async (seed) => {
    await using service = await startFaultyService()
    const random = seededRandom(seed * 7919)
    const root = temporaryDirectory()
    const mirror = mirrorOf(root)
    await using tested = openTestEngine(service)
    for (let round = 0; round < 4; round += 1) {
      for (let edit = 0; edit < 12; edit += 1) editAtRandom(root, random)
      await expectWholeAccount(tested, mirror, root)
      const result = await tested.sync([mirror], { acceptsRemovals: true })
      expect(result).toMatchObject({ outcome: 'done', failure: undefined })
      const account = result.summary.mirrors[0]
      if (!account) throw new Error('No account')
      const { scanned, unchanged, new: fresh, changed, moved } = account.files
      expect(scanned).toBe(unchanged + fresh + changed + moved)
      expect(scanned).toBe(listFiles(root).length)
      await expectWholeAccount(tested, mirror, root)
    }
    const contents = new Set(listFiles(root).map((path) => readFileSync(join(root, path), 'utf8')))
    const { rows } = await tested.report([mirror])
    const local = rows.filter(({ entry }) => entry.class !== 'superseded')
    expect(local.every(({ entry }) => entry.class === 'in-sync')).toBe(true)
    expect(new Set(local.map(({ entry }) => entry.sha256)).size).toBe(contents.size)
    // Each content was sent once, however often its file disappeared and returned.
    const sent = service.requests.filter(({ route }) => route === 'uploadFile')
    expect(new Set(rows.flatMap(({ entry }) => entry.resourceId ?? [])).size).toBe(sent.length)
  },
)

/** The real file system, with directories that may not be opened. */
function refusing(isRefused: (path: string) => boolean): FileSystem {
  const openSync: FileSystem['openSync'] = (path, flags) => {
    if (isRefused(path)) throw Object.assign(new Error('EACCES: permission denied'), { code: 'EACCES' })
    return nodeFileSystem.openSync(path, flags)
  }
  return { ...nodeFileSystem, openSync }
}

/** Expects one row for each file on disk besides superseded rows, and no row for a missing file. */
async function expectWholeAccount(tested: TestEngine, mirror: MirrorSettings, root: string): Promise<void> {
  if (!tested.store.mirrors.findByName(mirror.name)) return
  const report = await tested.report([mirror])
  expect(findFaultOfShortForm(report)).toBeUndefined()
  const { rows } = report
  const local = rows.filter(({ entry }) => entry.class !== 'superseded' && entry.class !== 'remote-only')
  expect(local.map(({ entry }) => entry.path).sort()).toEqual(listFiles(root))
  expect(rows.filter(({ entry }) => entry.class === 'remote-only')).toEqual([])
  const resources = rows.flatMap(({ entry }) => (entry.class === 'superseded' ? [entry.resourceId] : []))
  const present = new Set(local.flatMap(({ entry }) => (entry.class === 'in-sync' ? [entry.resourceId] : [])))
  expect(resources.filter((id) => present.has(id))).toEqual([])
  expect(new Set(resources).size).toBe(resources.length)
}

function editAtRandom(root: string, random: () => number): void {
  const pick = (count: number) => Math.floor(random() * count)
  const somewhere = () => ['', 'd/', 'd/e/', 'f/'][pick(4)] ?? ''
  const files = listFiles(root)
  const victim = files[pick(files.length)]
  const kind = pick(7)
  if (kind <= 2 || victim === undefined) writeTree(root, { [`${somewhere()}${pick(6)}.md`]: `content ${pick(9)}` })
  else if (kind === 3) rmSync(join(root, victim))
  else if (kind === 4) writeFileSync(join(root, victim), `content ${pick(9)}`)
  else if (kind === 5) {
    const target = `${somewhere()}${pick(6)}.md`
    writeTree(root, { [target]: '' })
    renameSync(join(root, victim), join(root, target))
  } else rmSync(join(root, ['d', 'f'][pick(2)] ?? 'd'), { recursive: true, force: true })
}

function listFiles(root: string): string[] {
  const entries = readdirSync(root, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  return entries.map(({ parentPath, name }) => join(parentPath, name).slice(root.length + 1)).sort()
}

function page(change: Record<string, unknown>) {
  const empty = { folders: [], files: [], limit: 500, next_cursor: null, truncated: false }
  return { status: 200, body: { ...empty, ...change } }
}
