import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import type { MirrorSettings } from '../../src/sync/engine.ts'
import type { RunResult } from '../../src/sync/run/run-sync.ts'
import { accountOf, mirrorOf, openTestEngine, type TestEngine } from '../support/engine.ts'
import { randomFaults, startFaultyService } from '../support/faulty-service.ts'
import { readLibrary } from '../support/library-contents.ts'
import { manyFiles, temporaryDirectory, writeTree } from '../support/temporary.ts'

const tree = manyFiles(300, 180)
const contents = new Set(Object.values(tree).map((content) => createHash('sha256').update(content).digest('hex')))

/** Runs again, as if each quarantine had ended, until nothing is left; each run reports the uploads that failed twice. */
async function syncUntilDone(tested: TestEngine, mirror: MirrorSettings): Promise<RunResult[]> {
  const runs: RunResult[] = []
  for (let run = 1; run <= 5; run += 1) {
    const result = await tested.sync([mirror])
    runs.push(result)
    const { problems, uploads } = accountOf(result)
    expect(result.failure).toBeUndefined()
    expect(uploads).toMatchObject({ inDoubt: 0, heldBack: 0 })
    // The other problems are of resources whose ingestion could not be polled for a while.
    expect(uploads.failed).toBeLessThanOrEqual(problems.length)
    const { store } = tested
    expect(store.contents.countToSend(1)).toMatchObject({ n: 0 })
    if (result.outcome === 'done') return runs
    store.write(() => store.quarantine.list().forEach(({ contentId }) => void store.quarantine.makeDue(contentId)))
  }
  throw new Error('Five runs were not enough')
}

describe('random faults of the service', () => {
  test.each([1, 2])('a faulty service gets every content exactly once (seed %i) [P3, P17]', async (seed) => {
    await using service = await startFaultyService({ fault: randomFaults(seed, 0.2) })
    const mirror = mirrorOf(writeTree(temporaryDirectory(), tree))
    await using tested = openTestEngine(service, { inThreads: true })
    const runs = await syncUntilDone(tested, mirror)

    const stored = readLibrary(service.dataDir)
    expect(stored.map(({ sha256 }) => sha256).sort()).toEqual([...contents].sort())
    const sum = (count: (account: ReturnType<typeof accountOf>) => number) =>
      runs.reduce((total, run) => total + count(accountOf(run)), 0)
    expect(sum(({ ingestion }) => ingestion.searchable)).toBe(contents.size)
    expect(sum(({ uploads }) => uploads.created + uploads.duplicates)).toBe(contents.size)
    const kinds = new Set(service.requests.map(({ fault }) => fault))
    expect(kinds.size).toBe(7)

    service.fault = () => undefined
    service.forget()
    expect((await tested.sync([mirror])).outcome).toBe('done')
    expect(service.count('uploadFile') + service.count('createDirectory')).toBe(0)
    const { rows } = await tested.report([mirror])
    expect(rows.filter(({ entry }) => entry.class !== 'in-sync')).toEqual([])
    expect(rows).toHaveLength(300)
  })

  test('lost answers cause no second resource without a duplicate rule [P3]', async () => {
    await using service = await startFaultyService({ fault: randomFaults(3, 0.2), hasNoDuplicateRule: true })
    const mirror = mirrorOf(writeTree(temporaryDirectory(), manyFiles(150, 100)))
    await using tested = openTestEngine(service, { inThreads: true })
    await syncUntilDone(tested, mirror)

    const uploads = service.requests.filter(({ route, status }) => route === 'uploadFile' && status === 201)
    const lost = uploads.filter(({ fault }) => fault !== undefined)
    expect(lost.length).toBeGreaterThan(0)
    const resources = readLibrary(service.dataDir).length
    expect(resources).toBe(uploads.length)
    expect(resources).toBeLessThanOrEqual(100 + lost.length)
    // If only the answer was lost, the look finds the resource, so that nothing is sent again.
    expect(resources).toBe(100)
  })
})
