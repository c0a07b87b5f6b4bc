/** What holds uploads back: limits, ingestion capacity, disk space. */
import { describe, expect, test } from 'vitest'
import { systemClock } from '../../../src/foundation/clock.ts'
import { nodeFileSystem } from '../../../src/local/read/file-system.ts'
import { runSync } from '../../../src/sync/run/run-sync.ts'
import { RunQuota } from '../../../src/sync/upload/upload-plan.ts'
import { accountOf, mirrorOf, openTestEngine, startEngine } from '../../support/engine.ts'
import { type FaultyService, type SeenRequest, startFaultyService } from '../../support/faulty-service.ts'
import { temporaryDirectory, writeTree } from '../../support/temporary.ts'

const DAY_MS = 24 * 3_600_000
const NOW_MS = Date.now()
const three = { 'a.md': 'a', 'b.md': 'bb', 'c.md': 'ccc' }
const heldBy = (account: ReturnType<typeof accountOf>) => account.uploads.heldBackBy

test('a limit of a day reports when there is room again', async () => {
  const root = writeTree(temporaryDirectory(), { 'a.md': 'a' })
  let aheadMs = 0
  const clock = { ...systemClock, nowMs: () => Date.now() + aheadMs, monotonicMs: () => performance.now() + aheadMs }
  const { tested } = await startEngine({}, { clock, limits: { newPerDay: 1 } })
  expect((await tested.sync([mirrorOf(root)])).outcome).toBe('done')
  writeTree(root, three)
  const held = accountOf(await tested.sync([mirrorOf(root)]))
  const [first] = tested.store.uploads.listByContent(1)
  const [hold] = heldBy(held)
  expect(hold).toMatchObject({ limit: 'newPerDay', value: 1, contents: 2 })
  const freesAtMs = Date.parse(hold?.freesAt ?? '')
  const leavesMs = (first?.begunAt ?? 0) + DAY_MS
  // The clocks of a machine are read one after the other.
  expect(freesAtMs).toBeGreaterThanOrEqual(leavesMs)
  expect(freesAtMs).toBeLessThan(leavesMs + 1_000)
  aheadMs = DAY_MS + 1_000
  expect(accountOf(await tested.sync([mirrorOf(root)])).uploads).toMatchObject({ created: 1, heldBack: 1 })
})

test.each([
  ['newPerRun', 1],
  ['newBytesPerRun', 1],
  ['newPerDay', 0],
] as const)('a limit (%s %i) that time alone never frees reports no time', async (limit, value) => {
  const service = await startFaultyService()
  const tested = openTestEngine(service, { limits: { [limit]: value } })
  const account = accountOf(await tested.sync([mirrorOf(writeTree(temporaryDirectory(), three))]))
  expect(account.uploads.created).toBe(value)
  expect(heldBy(account)).toEqual([{ limit, value, contents: 3 - value, freesAt: null }])
})

test.each([
  ['newPerRun', 2, { 'first.md': 'f' }],
  ['newBytesPerRun', 3, {}],
  ['newPerDay', 3, { 'first.md': 'f' }],
  ['newPerDay', 3, {}],
] as const)('a limit (%s %i) holds back in a dry run what it holds back later', async (limit, value, earlier) => {
  const clock = { ...systemClock, nowMs: () => NOW_MS }
  const { tested } = await startEngine({}, { clock, limits: { [limit]: value } })
  const [one, two] = [earlier, {}].map((tree) => mirrorOf(writeTree(temporaryDirectory(), tree)))
  if (!one || !two) throw new Error('No mirrors')
  const mirrors = [one, { ...two, name: 'two', remotePath: '/two' }]
  await tested.sync(mirrors)
  writeTree(one.path, three)
  writeTree(two.path, { 'd.md': 'd', 'e.md': 'e' })
  const planned = await tested.sync(mirrors, { isDryRun: true })
  const sent = await tested.sync(mirrors)
  expect(planned.summary.mirrors.map(({ uploads }) => uploads)).toEqual(
    sent.summary.mirrors.map(({ uploads }) => uploads),
  )
  expect(sent.summary.mirrors.flatMap(({ uploads }) => uploads.heldBackBy)).not.toEqual([])
})

test('a limit under which nothing was sent frees at no time', async () => {
  const { tested } = await startEngine({}, { limits: { newPerDay: 1 } })
  await tested.sync([mirrorOf(writeTree(temporaryDirectory(), {}))])
  const [row] = tested.store.mirrors.list()
  if (!row) throw new Error('No mirror')
  const span = new RunQuota(tested.engine, row, { kind: 'span', sinceMs: 0 })
  expect([span.freesAt('newPerDay'), span.read()]).toEqual([null, { inRun: 0, bytesInRun: 0, inDay: 0 }])
})

test('a limit of a span counts what was sent in it', async () => {
  const { tested } = await startEngine()
  await tested.sync([mirrorOf(writeTree(temporaryDirectory(), three))])
  const [row] = tested.store.mirrors.list()
  if (!row) throw new Error('No mirror')
  const limited = { ...tested.engine, limits: { ...tested.engine.limits, newPerRun: 5, newPerDay: null } }
  expect(new RunQuota(limited, row, { kind: 'span', sinceMs: 0 }).read()).toEqual({ inRun: 3, bytesInRun: 6, inDay: 0 })
  const none = { kind: 'span', sinceMs: performance.now() } as const
  expect(new RunQuota(limited, row, none).read()).toMatchObject({ inRun: 0 })
})

test('a dry run sends nothing, and what was refused is no new failure', async () => {
  const service = await startFaultyService()
  service.answer = ({ route }) => (route === 'uploadFile' ? { status: 422, body: { message: 'no' } } : undefined)
  let aheadMs = 0
  const clock = { ...systemClock, nowMs: () => Date.now() + aheadMs }
  const tested = openTestEngine(service, { clock })
  const mirror = mirrorOf(writeTree(temporaryDirectory(), { 'a.md': 'a' }))
  expect(accountOf(await tested.sync([mirror])).uploads).toMatchObject({ created: 0, failed: 1 })
  aheadMs = DAY_MS
  const planned = accountOf(await tested.sync([mirror], { isDryRun: true }))
  expect(planned.uploads).toMatchObject({ created: 1, failed: 0 })
})

describe('contents that always fail', () => {
  const isBad = ({ fileName }: SeenRequest) => fileName?.startsWith('bad') === true
  const FILES = { 'a/bad-1.md': '1', 'a/bad-2.md': '2', 'b/good-1.md': '3', 'b/good-2.md': '4', 'b/good-3.md': '5' }

  test.each([
    ['are refused', refuse],
    ['end in doubt', leaveInDoubt],
  ])('contents that %s leave the quota of a run to others', async (_, spoil) => {
    const { service, tested, mirror } = await startEngine(FILES, { limits: { newPerRun: 2, transfers: 1 } })
    spoil(service)
    const { store } = tested
    const runs: string[] = []
    for (const _ of [1, 2, 3, 4]) {
      service.forget()
      store.write(() => [1, 2, 3, 4, 5].forEach((contentId) => void store.quarantine.makeDue(contentId)))
      await tested.sync([mirror])
      runs.push(service.requests.flatMap(({ fileName }) => fileName ?? []).join(' '))
    }
    expect(runs).toEqual(['bad-1.md bad-2.md', 'good-1.md good-2.md', 'good-3.md bad-1.md', 'bad-1.md bad-2.md'])
  })

  test('a failing content is sent from its copy when unreadable', async () => {
    const service = await startFaultyService()
    refuse(service)
    const mirror = mirrorOf(writeTree(temporaryDirectory(), { 'bad.md': 'the same', 'copy.md': 'the same' }))
    let isLocked = false
    const openSync: typeof nodeFileSystem.openSync = (path, flags) => {
      if (isLocked && path.endsWith('/bad.md')) throw Object.assign(new Error('locked'), { code: 'EACCES' })
      return nodeFileSystem.openSync(path, flags)
    }
    const tested = openTestEngine(service, { fs: { ...nodeFileSystem, openSync } })
    expect((await tested.sync([mirror])).outcome).toBe('failures')
    isLocked = true
    tested.store.write(() => tested.store.quarantine.makeDue(1))
    expect(accountOf(await tested.sync([mirror])).uploads.created).toBe(1)
  })

  function refuse(service: FaultyService): void {
    service.answer = (request) => (isBad(request) ? { status: 422, body: {} } : undefined)
  }

  function leaveInDoubt(service: FaultyService): void {
    service.fault = (request) => (isBad(request) ? 'html-error' : undefined)
  }
})

describe('full ingestion', () => {
  test('a full ingestion holds back the rest at the deadline', async () => {
    const { service, tested, mirror } = await startEngine(three, { limits: { inIngestion: 1, transfers: 1 } })
    service.rewrite = ({ route }, body) => (route === 'showResource' ? { ...body, ingestion_status: 'running' } : body)
    const account = accountOf(await tested.sync([mirror], { waitMs: 50 }))
    expect(account.uploads).toMatchObject({ created: 1, heldBack: 2 })
    expect(heldBy(account)).toEqual([{ limit: 'inIngestion', value: 1, contents: 2, freesAt: null }])
  })

  test('a full ingestion takes the next content when one is done', async () => {
    const { tested } = await startEngine({}, { limits: { inIngestion: 1 } })
    const result = await tested.sync([mirrorOf(writeTree(temporaryDirectory(), three))])
    expect([result.outcome, accountOf(result).uploads.created]).toEqual(['done', 3])
  })

  test('what a search finds is polled at once, so that it makes room', async () => {
    const root = writeTree(temporaryDirectory(), { 'a.md': 'a', 'b.md': 'bb' })
    const { service, tested } = await startEngine({}, { limits: { inIngestion: 2 } })
    service.fault = ({ route }) => {
      if (route === 'uploadFile') return 'cut-answer'
      return route === 'listDirectory' && service.count('uploadFile') > 0 ? 'html-error' : undefined
    }
    expect(accountOf(await tested.sync([mirrorOf(root)])).problems).toHaveLength(2)
    service.fault = () => undefined
    tested.store.write(() => [1, 2].forEach((id) => void tested.store.quarantine.makeDue(id)))
    writeTree(root, three)
    const result = await tested.sync([mirrorOf(root)])
    expect([result.outcome, service.count('uploadFile')]).toEqual(['done', 3])
  })
})

test('nothing is sent without disk space to record it', async () => {
  const {
    service,
    tested: { engine, store },
  } = await startEngine()
  const full = { ...engine, store: { ...store, freeBytes: () => 64 * 2 ** 20 - 1 } }
  const options = { waitMs: 0, hashEverything: false, isDryRun: false, acceptsRemovals: false, adopts: false }
  const runOptions = { ...options, acceptsRoot: false, acceptsBreadth: false, minAgeMs: null, part: [] }
  const result = await runSync(full, [mirrorOf(writeTree(temporaryDirectory(), three))], runOptions)
  expect(result.failure).toMatchObject({ code: 'disk-full' })
  expect(service.count('uploadFile')).toBe(0)
})
