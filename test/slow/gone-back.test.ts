import { copyFileSync, cpSync, existsSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { ShelfdError } from '../../src/foundation/errors.ts'
import { accountOf, mirrorOf, openTestEngine, type TestEngine } from '../support/engine.ts'
import { type FaultyService, startFaultyService } from '../support/faulty-service.ts'
import { readLibrary } from '../support/library-contents.ts'
import { temporaryDirectory, writeTree } from '../support/temporary.ts'

/** Stores that lack what was acknowledged: restored, copied, or new (P14, P24). */

const COUNT = 6

/** What a copy of the state lacks, and how the runs on it end. */
const LOSSES: readonly (readonly [string, readonly string[], readonly string[]])[] = [
  ['restored whole', [], ['done']],
  ['restored without its record', ['generation'], ['done']],
  ['restored without its log', ['store.db-wal'], ['store-damaged']],
  ['restored without record and log', ['generation', 'store.db-wal'], ['done']],
  ['emptied', ['generation', 'store.db-wal', 'store.db'], ['confirmation-needed']],
]

/** Runs on a copy of the state; returns the code of its refusal, or its outcome. */
async function syncOn(service: FaultyService, stateDir: string, mirror: ReturnType<typeof mirrorOf>, adopts: boolean) {
  let tested: TestEngine | undefined
  try {
    tested = openTestEngine(service, { stateDir, limits: { transfers: 2 } })
    const { outcome, failure } = await tested.sync([mirror], { adopts })
    return failure?.code ?? outcome
  } catch (error) {
    if (!(error instanceof ShelfdError)) throw error
    return error.code
  } finally {
    await tested?.[Symbol.asyncDispose]()
  }
}

/**
 * A service without a duplicate rule, the mirror of a tree and one file that was sent before, and copies of the state from
 * each answer to an upload or to the making of a directory.
 */
async function openWithCopies(tree = someFiles()) {
  const service = await startFaultyService({ library: 'Test', hasNoDuplicateRule: true })
  const mirror = mirrorOf(writeTree(temporaryDirectory(), { 'first.md': 'first' }))
  const stateDir = temporaryDirectory()
  {
    await using tested = openTestEngine(service, { stateDir })
    expect((await tested.sync([mirror])).outcome).toBe('done')
  }
  service.forget()
  writeTree(mirror.path, tree)
  const copies: string[] = []
  service.onResponse = ({ route }) => {
    if (route === 'uploadFile' || route === 'createDirectory') copies.push(copyState(stateDir))
  }
  await using tested = openTestEngine(service, { stateDir, limits: { transfers: 1 } })
  expect((await tested.sync([mirror])).outcome).toBe('done')
  service.onResponse = () => {}
  const sent = service.count('uploadFile')
  service.forget()
  return { service, mirror, stateDir, copies, sent }
}

function someFiles(): Record<string, string> {
  return Object.fromEntries(
    Array.from({ length: COUNT }, (_, index) => [`d${index % 2}/file-${index}.md`, `# ${index}`]),
  )
}

describe.each(LOSSES)('a state that is %s', (_, lost, answers) => {
  test('a state gone back sends nothing that was acknowledged [P14]', async () => {
    const { service, mirror, copies, sent } = await openWithCopies()
    expect({ sent, copies: copies.length }).toEqual({ sent: COUNT, copies: COUNT + 2 })
    const outcomes = new Set<string>()
    for (const copy of copies) {
      for (const name of lost) rmSync(join(copy, name))
      const outcome = await syncOn(service, copy, mirror, false)
      // A user who is asked may confirm that the library is adopted.
      if (outcome === 'confirmation-needed') expect(await syncOn(service, copy, mirror, true)).toBe('done')
      outcomes.add(outcome)
      expect(service.count('uploadFile'), outcome).toBe(0)
    }
    expect([...outcomes].sort()).toEqual(answers)
    expect(readLibrary(service.dataDir)).toHaveLength(COUNT + 1)
  })
})

test('a restored state recognises a file that comes back later [P24]', async () => {
  const { service, mirror, copies } = await openWithCopies()
  const [copy = ''] = copies.slice(2)
  const kept = temporaryDirectory()
  renameSync(join(mirror.path, 'd1'), join(kept, 'd1'))
  expect(await syncOn(service, copy, mirror, false)).toBe('done')
  cpSync(join(kept, 'd1'), join(mirror.path, 'd1'), { recursive: true })
  expect(await syncOn(service, copy, mirror, false)).toBe('done')
  expect(service.count('uploadFile')).toBe(0)
})

test('a restored state reads each of many resources of one name once [P24]', async () => {
  const tree = Object.fromEntries(Array.from({ length: 30 }, (_, index) => [`d${index}/README.md`, `# ${index + 10}`]))
  const { service, mirror, copies } = await openWithCopies(tree)
  const copy = copies.at(-30) ?? ''
  expect(await syncOn(service, copy, mirror, false)).toBe('done')
  expect(service.count('uploadFile')).toBe(0)
  expect(service.count('downloadResource')).toBeLessThanOrEqual(2 * 30)
})

test('a restored state sends what is new and reads nothing of others', async () => {
  const { service, mirror, copies } = await openWithCopies()
  await using other = openTestEngine(service)
  await other.sync([mirrorOf(writeTree(temporaryDirectory(), { 'of-others.md': 'theirs', 'mine.md': 'not yours' }))])
  service.forget()
  writeFileSync(join(mirror.path, 'mine.md'), 'mine')
  writeFileSync(join(mirror.path, 'another.md'), 'another')
  expect(await syncOn(service, copies.at(-1) ?? '', mirror, false)).toBe('done')
  expect(
    service.requests
      .filter(({ route }) => route === 'uploadFile')
      .map(({ fileName }) => fileName)
      .sort(),
  ).toEqual(['another.md', 'mine.md'])
  service.forget()
  expect(await syncOn(service, copies.at(-1) ?? '', mirror, false)).toBe('done')
  expect(service.count('listDirectory'), 'and looks no more').toBe(0)
})

test('a restored state sends nothing that it cannot search for [P24]', async () => {
  const { service, mirror, copies } = await openWithCopies()
  const copy = copies.at(4) ?? ''
  service.answer = ({ route, path }) =>
    route === 'listDirectory' && path.includes('%2Fd1') ? { status: 422, body: {} } : undefined
  expect(await syncOn(service, copy, mirror, false)).not.toBe('done')
  service.answer = () => undefined
  expect(service.count('uploadFile')).toBe(0)
  await using tested = openTestEngine(service, { stateDir: copy })
  tested.store.write(() => {
    for (const { contentId } of tested.store.quarantine.list()) tested.store.quarantine.makeDue(contentId)
  })
  expect((await tested.sync([mirror])).outcome).toBe('done')
  expect(service.count('uploadFile')).toBe(0)
})

test('a restored state continues past a resource that cannot be read', async () => {
  const { service, mirror, copies } = await openWithCopies()
  const bad = readLibrary(service.dataDir).find(({ title }) => title === 'file-4.md')
  service.answer = ({ route, path }) =>
    route === 'downloadResource' && path.includes(bad?.id ?? '') ? { status: 500, body: {} } : undefined
  await using tested = openTestEngine(service, { stateDir: copies.at(2) ?? '' })
  const result = await tested.sync([mirror])
  expect(result.outcome).toBe('failures')
  expect(accountOf(result).problems.map(({ path }) => path)).toEqual(['d0/file-4.md'])
  expect(service.count('uploadFile')).toBe(0)
  service.forget()
  expect((await tested.sync([mirror])).outcome).toBe('failures')
  expect(service.count('downloadResource'), 'before its quarantine is over').toBe(0)
  expect(service.count('uploadFile')).toBe(0)
})

describe('a restored state beside other faults', () => {
  test('a restored state sends files beside a directory that cannot be listed', async () => {
    const service = await startFaultyService({ library: 'Test', hasNoDuplicateRule: true })
    const mirror = mirrorOf(writeTree(temporaryDirectory(), { 'd0/old.md': '0', 'd1/sub/old.md': '1' }))
    await using tested = openTestEngine(service)
    expect((await tested.sync([mirror])).outcome).toBe('done')
    writeTree(mirror.path, { 'd0/a.md': '# a', 'd1/sub/b.md': '# b' })
    await openTestEngine(service).sync([mirror], { adopts: true })
    service.forget()
    writeTree(mirror.path, { 'd0/new.md': '# new' })
    tested.store.write(() => tested.store.foreign.requireSearches())
    service.answer = ({ route, path }) =>
      route === 'listDirectory' && path.includes('%2Fd1&') ? { status: 422, body: {} } : undefined
    const account = accountOf(await tested.sync([mirror]))
    expect(account.problems).toMatchObject([{ path: 'd1/sub/b.md', code: 'service-unavailable' }])
    expect(account.uploads).toMatchObject({ created: 1, duplicates: 1 })
    service.answer = () => undefined
    expect((await tested.sync([mirror])).outcome, 'before its quarantine is over').toBe('temporary')
    tested.store.write(() =>
      tested.store.quarantine.list().forEach((due) => void tested.store.quarantine.makeDue(due.contentId)),
    )
    expect((await tested.sync([mirror])).outcome).toBe('done')
    expect(service.requests.flatMap(({ fileName }) => fileName ?? [])).toEqual(['new.md'])
  })

  test('a restored state finds an upload behind a thousand others of its name [P24]', async () => {
    const service = await startFaultyService({ library: 'Test', hasNoDuplicateRule: true })
    const mirror = mirrorOf(writeTree(temporaryDirectory(), { 'a.md': '# a' }))
    await openTestEngine(service).sync([mirror])
    service.forget()
    service.rewrite = ({ route }, body) => {
      if (route !== 'listDirectory' || !Array.isArray(body.files)) return body
      const others = body.files.flatMap((file) => Array.from({ length: 1_100 }, (_, n) => ({ ...file, id: `!${n}` })))
      return { ...body, files: [...others, ...body.files] }
    }
    service.answer = ({ route, path }) =>
      route === 'downloadResource' && /!|%21/.test(path) ? { status: 403, body: {} } : undefined
    await using tested = openTestEngine(service)
    expect((await tested.sync([mirror], { adopts: true })).outcome).toBe('done')
    expect(service.count('uploadFile')).toBe(0)
    expect(service.count('downloadResource')).toBe(1_101)
  })

  test('a restored state adopts once what two mirrors find at once', async () => {
    const service = await startFaultyService({ library: 'Test', hasNoDuplicateRule: true })
    const root = temporaryDirectory()
    const one = mirrorOf(writeTree(join(root, 'one'), { 'a.md': 'shared' }))
    const two = mirrorOf(writeTree(join(root, 'two'), { 'a.md': 'shared' }))
    await openTestEngine(service).sync([one, two])
    service.forget()
    const areBoth = Promise.withResolvers<void>()
    service.onResponse = ({ route }) => {
      if (service.count('downloadResource') === 2) areBoth.resolve()
      return route === 'downloadResource' ? areBoth.promise : undefined
    }
    await using fresh = openTestEngine(service)
    const results = await Promise.all([one, two].map((mirror) => fresh.sync([mirror], { adopts: true })))
    expect(results.map(({ outcome }) => outcome)).toEqual(['done', 'done'])
    expect(results.map((result) => accountOf(result).uploads.duplicates).sort()).toEqual([0, 1])
    expect(service.count('uploadFile')).toBe(0)
  })

  test('a restored state finds a refused content that was stored since', async () => {
    const service = await startFaultyService({ library: 'Test', hasNoDuplicateRule: true })
    const mirror = mirrorOf(writeTree(temporaryDirectory(), { 'a.md': 'a' }))
    await using tested = openTestEngine(service)
    service.answer = ({ route }) => (route === 'uploadFile' ? { status: 422, body: {} } : undefined)
    expect((await tested.sync([mirror])).outcome).toBe('failures')
    service.answer = () => undefined
    await openTestEngine(service).sync([mirror], { adopts: true })
    service.forget()
    tested.store.write(() => {
      tested.store.foreign.requireSearches()
      tested.store.quarantine.makeDue(1)
    })
    expect((await tested.sync([mirror])).outcome).toBe('done')
    expect(service.count('uploadFile')).toBe(0)
  })

  test.each([
    ['other', 1],
    ['mine', 0],
  ])('a restored state compares bytes that come without a length: %s', async (body, uploads) => {
    const mayRepeat = 'the service shows other bytes than it stored'
    const service = await startFaultyService({ library: 'Test', hasNoDuplicateRule: true, mayRepeat })
    const mirror = mirrorOf(writeTree(temporaryDirectory(), { 'a.md': 'mine' }))
    await openTestEngine(service).sync([mirror])
    service.forget()
    const headers = { 'content-type': 'text/markdown' }
    service.answer = ({ route }) => (route === 'downloadResource' ? { status: 200, body, headers } : undefined)
    expect((await openTestEngine(service).sync([mirror], { adopts: true })).outcome).toBe('done')
    expect(service.count('uploadFile')).toBe(uploads)
  })
})

test('a new state adopts a full library and sends nothing, once confirmed [P14]', async () => {
  const { service, mirror } = await openWithCopies()
  await using tested = openTestEngine(service)
  const result = await tested.sync([mirror], { adopts: true })
  expect(result.outcome).toBe('done')
  expect(accountOf(result).uploads).toMatchObject({ created: 0, duplicates: COUNT + 1, aliases: 0, bytes: 0 })
  expect(accountOf(result).ingestion).toMatchObject({ searchable: COUNT + 1 })
  expect(service.count('uploadFile')).toBe(0)
  const { rows } = await tested.report([mirror])
  expect(new Set(rows.map(({ entry }) => entry.class))).toEqual(new Set(['in-sync']))
})

test('a killed process costs no search [P24]', async () => {
  const { service, mirror, stateDir } = await openWithCopies()
  writeTree(mirror.path, { 'd0/late.md': 'late' })
  const running = openTestEngine(service, { stateDir })
  running.store.write(() => {})
  const killed = killedState(stateDir)
  await running[Symbol.asyncDispose]()
  await using tested = openTestEngine(service, { stateDir: killed })
  expect(tested.store.mayLackReceipts()).toBe(false)
  expect((await tested.sync([mirror])).outcome).toBe('done')
  expect({ sent: service.count('uploadFile'), listed: service.count('listDirectory') }).toEqual({ sent: 1, listed: 0 })
})

const NAMES = ['store.db', 'store.db-wal', 'generation']

/** A copy of what lies in the state directory at this moment, which its holder may be about to change. */
function copyState(stateDir: string, target = temporaryDirectory()): string {
  for (const name of NAMES.filter((one) => existsSync(join(stateDir, one))))
    copyFileSync(join(stateDir, name), join(target, name))
  return target
}

/** The same, so that it seems to be no copy: as a kill at this moment would leave it. */
function killedState(stateDir: string): string {
  const killed = copyState(stateDir)
  recordItsPlace(killed)
  return killed
}

/** Changes the generation file so that it takes the database for the file that it was written for. */
function recordItsPlace(stateDir: string): void {
  const { ino, ctimeNs } = statSync(join(stateDir, 'store.db'), { bigint: true })
  const file = join(stateDir, 'generation')
  const generation = readFileSync(file, 'utf8')
  const place = `"place":{"inode":"${ino}","ctimeNs":"${ctimeNs}"}`
  writeFileSync(file, generation.replace(/"place":(?:null|\{[^}]*\})/, place))
}
