import { describe, expect, test } from 'vitest'
import type { IngestionOutcome } from '../../../src/contract/states.ts'
import { WITHOUT_TEXT } from '../../../src/rules/without-text.ts'
import { openStore, type Store } from '../../../src/store/open-store.ts'
import { OPEN_FILES_START } from '../../../src/store/tables/files.ts'
import { countFiles } from '../../../src/sync/report/status-of-mirrors.ts'
import { dumpStore } from '../../support/dump-store.ts'
import { pinMirror, recordFile } from '../../support/record-file.ts'
import { temporaryDirectory } from '../../support/temporary.ts'

const DAY_MS = 24 * 3_600_000

/** A store with one library and one mirror, and shorthands for what goes into it. */
function openUsed() {
  const stateDir = temporaryDirectory()
  const store = openStore(stateDir)
  const mirror = store.write(() => pinMirror(store))
  /** Another mirror of the same library, with a file of its own and one of a content that the first one has. */
  const secondMirror = () => {
    const row = pinMirror(store, { name: 'n', libraryId: mirror.library.id, rootInode: 3n })
    for (const number of [2, 200])
      recordFile(store, row, { name: `n${number}`, sha256: Buffer.alloc(32, number), size: number })
  }
  const file = (directory: string, name: string, number: number) =>
    recordFile(store, mirror, { directory, name, sha256: Buffer.alloc(32, number), size: number })
  const content = (number: number) => {
    const key = { libraryId: mirror.library.id, sha256: Buffer.alloc(32, number), mime: 'text/plain', size: number }
    return { id: store.contents.find(key)?.id ?? file('contents', `c${number}`, number) }
  }
  return { store, stateDir, mirror, secondMirror, content, file, [Symbol.dispose]: () => store[Symbol.dispose]() }
}

function markStored(store: Store, id: number, resourceId: string): void {
  const stored = { resourceId, isDuplicate: false, hasSecondLocation: false, mirrorId: 1, runId: 1, nowMs: 5 }
  store.contents.markStored(id, stored)
}

test('of a file that a listing names twice, the last wins', () => {
  using used = openUsed()
  const { report } = used.store
  const entry = { libraryId: 1, directory: '/d', filename: 'a', title: '' }
  const listed = ['r2', 'r1', 'r2', 'r1', 'r2'].map((resourceId, at) => ({ ...entry, resourceId, mime: `text/${at}` }))
  report.addListed([...listed, { ...entry, resourceId: 'r2', filename: 'b', mime: 'text/b' }])
  const mimesOf = (resourceId: string) => report.listLocations(1, resourceId).map(({ mime }) => mime)
  expect(['r1', 'r2'].map(mimesOf)).toEqual([['text/3'], ['text/4', 'text/b']])
  report.addListed([{ ...entry, resourceId: 'r1', mime: 'text/later' }])
  expect(mimesOf('r1')).toEqual(['text/later'])
})

describe('contents', () => {
  test('a content is one for its bytes and type [P3]', () => {
    using used = openUsed()
    const { store, mirror } = used
    const sha256 = Buffer.alloc(32, 1)
    const first = recordFile(store, mirror, { name: 'a', sha256 })
    expect(recordFile(store, mirror, { name: 'b', sha256 })).toBe(first)
    expect(recordFile(store, mirror, { name: 'c', sha256, mime: 'text/markdown' })).not.toBe(first)
  })

  test('a content keeps its resource id for good [P13]', () => {
    using used = openUsed()
    const { store } = used
    const { id } = store.write(() => used.content(1))
    store.write(() => markStored(store, id, 'r1'))
    expect(() => store.write(() => store.contents.setState(id, 'new'))).toThrow(/CHECK/)
    expect(() => store.write(() => store.contents.markInDoubt(id))).toThrow(/CHECK/)
    expect(store.contents.get(id)).toMatchObject({ state: 'stored', resourceId: 'r1' })
  })

  test('times until searchable are asked for by their place', () => {
    using used = openUsed()
    const { store } = used
    const uploadedAt = 5
    const times = [30, 10, 20]
    store.write(() => {
      for (const [index, ms] of [...times, null].entries()) {
        const { id } = used.content(index + 1)
        markStored(store, id, `r${index}`)
        const outcome = ms === null ? ('pending' as const) : ('searchable' as const)
        const searchableAt = ms === null ? null : uploadedAt + ms
        store.contents.setIngestion(id, { status: 'completed', outcome, searchableAt, note: null, seenAt: 99 })
      }
    })
    expect(store.contents.countTimesToSearchable(1, 1)).toBe(times.length)
    expect([0, 1, 2].map((place) => store.contents.nthTimeToSearchable(1, 1, place))).toEqual([10, 20, 30])
    expect(store.contents.countTimesToSearchable(2, 1)).toBe(0)
  })

  test('a content is never stored without an id', () => {
    using used = openUsed()
    const { id } = used.store.write(() => used.content(1))
    expect(() => used.store.write(() => markStored(used.store, id, ''))).toThrow(/CHECK/)
  })
})

/** Both clocks agree. */
function at(timeMs: number) {
  return { wallMs: timeMs, monotonicMs: timeMs }
}

describe('an intent without an outcome', () => {
  test('an intent is in doubt until its outcome is known', () => {
    using used = openUsed()
    const { store, mirror } = used
    const { id: contentId } = store.write(() => used.content(7))
    const uploadId = store.write(() => {
      store.contents.setState(contentId, 'sending')
      return store.uploads.intend({
        contentId,
        mirrorId: mirror.id,
        path: 'a/b.md',
        remoteDirectory: '/m/a',
        runId: 1,
        begunAt: at(5),
      })
    })
    expect(store.contents.listDoubtful(mirror)).toMatchObject([{ id: contentId, path: 'a/b.md', uploadId }])
    store.write(() => {
      markStored(store, contentId, 'r7')
      store.uploads.end(uploadId, 'created', null, 9)
    })
    expect(store.contents.listDoubtful(mirror)).toEqual([])
    expect(store.contents.listPending(mirror, 0, 10)).toMatchObject([{ contentId, resourceId: 'r7' }])
    expect(store.uploads.listByContent(contentId)).toMatchObject([
      { attempt: 1, begunAt: 5, endedAt: 9, outcome: 'created' },
    ])
  })

  test('an intent counts towards the day unless it was not sent', () => {
    using used = openUsed()
    const { store, mirror } = used
    const { origin } = mirror.library
    store.write(() => {
      const outcomes = [null, 'created', 'duplicate', 'doubt', 'refused', 'not-sent', 'absent'] as const
      for (const [index, outcome] of outcomes.entries()) {
        const { id: contentId } = used.content(index)
        const intent = { contentId, mirrorId: mirror.id, path: 'a', remoteDirectory: '/m', runId: 1 }
        const uploadId = store.uploads.intend({ ...intent, begunAt: at(100 + index) })
        if (outcome) store.uploads.end(uploadId, outcome, null, 200)
      }
    })
    const { uploads } = store
    const last = (spanMs: number) => ({ spanMs, now: at(200) })
    expect(uploads.countWithin(origin, last(101))).toBe(6)
    expect(uploads.countWithin(origin, last(98))).toBe(3)
    expect(uploads.leaveTime(origin, last(101), 1)).toBe(101 + 101)
    expect(uploads.leaveTime(origin, last(101), 6)).toBeUndefined()
    expect(uploads.countWithin('https://other.example', last(101))).toBe(0)
    expect(uploads.tallyWithin(mirror.id, last(98))).toEqual({ n: 3, bytes: 3 + 4 + 6 })
    // The wall clock was set forward, then back.
    expect(uploads.countWithin(origin, { spanMs: 101, now: { wallMs: 9e12, monotonicMs: 200 } })).toBe(6)
    const ahead = { spanMs: 101, now: { wallMs: 1_200, monotonicMs: 200 } }
    expect(uploads.leaveTime(origin, ahead, 0)).toBe(1_000 + 100 + 101)
    const setBack = { spanMs: 50, now: { wallMs: -90, monotonicMs: 110 } }
    expect(uploads.countWithin(origin, setBack)).toBe(6)
    expect(uploads.leaveTime(origin, setBack, 0)).toBe(100 - 200 + 50)
  })
})

describe('a quarantine', () => {
  const nowMs = 1e12
  const cases = [
    { retryAt: null, isDue: true },
    { retryAt: nowMs, isDue: true },
    { retryAt: nowMs + 1, isDue: false },
    { retryAt: nowMs + DAY_MS, isDue: false },
    { retryAt: nowMs + DAY_MS + 1, isDue: true },
  ]

  test.each(cases)('a refused content is not sent while in quarantine: %j', ({ retryAt, isDue }) => {
    using used = openUsed()
    const { store, mirror } = used
    store.write(() => used.file('', 'a', 1))
    const { id } = used.content(1)
    store.write(() => store.contents.markRefused(id, { code: 'invalid', message: 'no', retryAt }))
    expect(store.files.hasSendable(mirror.id, nowMs)).toBe(isDue)
    store.write(() => store.quarantine.setAside(id))
    expect(store.files.hasSendable(mirror.id, nowMs)).toBe(false)
  })

  test.each(cases)(
    'a failed content is not looked for while in quarantine, or without an end: %j',
    ({ retryAt, isDue }) => {
      using used = openUsed()
      const { store, mirror } = used
      store.write(() => {
        used.file('', 'a', 1)
        markStored(store, used.content(1).id, 'r1')
        store.contents.setProblem(used.content(1).id, { code: 'ingestion-failed', message: 'no', retryAt })
      })
      expect(store.contents.listDueForRecheck(mirror.id, nowMs)).toHaveLength(Number(isDue && retryAt !== null))
    },
  )
})

describe('files', () => {
  test('a file keeps nanoseconds and inodes to the last digit', () => {
    using used = openUsed()
    used.store.write(() => used.file('d', 'a', 1))
    expect(used.store.files.listForCompare(used.mirror.id, 'd')).toEqual([
      ['a', 1n, 2n ** 62n, 2n ** 61n + 1n, 2n ** 60n + 1n, 0n],
    ])
  })

  test('a file is open until its content is stored', () => {
    using used = openUsed()
    const { store, mirror } = used
    store.write(() => {
      used.file('', 'a', 1)
      used.file('d', 'copy', 1)
      used.file('d', 'b', 2)
    })
    const names = () => store.files.listOpen(mirror.id, OPEN_FILES_START, 10).map(({ name }) => name)
    expect(names().sort()).toEqual(['a', 'b', 'copy'])
    store.write(() => {
      markStored(store, used.content(1).id, 'r1')
      expect(store.files.receiveAll(used.content(1).id)).toBe(2)
      expect(store.files.receiveAll(used.content(1).id)).toBe(0)
    })
    expect(names()).toEqual(['b'])
  })

  test('open files are listed page by page, each once', () => {
    using used = openUsed()
    const { store, mirror } = used
    store.write(() => {
      for (let index = 0; index < 25; index += 1) used.file(`d${index % 3}`, `f${index}`, index)
    })
    const seen: string[] = []
    for (let cursor = OPEN_FILES_START; ; ) {
      const page = store.files.listOpen(mirror.id, cursor, 4)
      const last = page.at(-1)
      if (!last) break
      seen.push(...page.map(({ name }) => name))
      cursor = { directoryId: last.directoryId, name: last.name }
    }
    expect(seen).toHaveLength(25)
    expect(new Set(seen).size).toBe(25)
  })

  test('files gone from one place and found elsewhere are moved, others removed', () => {
    using used = openUsed()
    const { store, mirror } = used
    store.write(() => {
      for (const number of [1, 2, 3, 4]) used.file('d', `f${number}`, number)
      for (const number of [1, 2, 3, 4]) markStored(store, used.content(number).id, `r${number}`)
    })
    const directoryId = store.directories.find(mirror.id, 'd') ?? 0
    store.write(() => {
      store.files.endScan(mirror.id)
      used.file('e', 'earlier-place', 2)
      store.files.beginScan(mirror.id)
      for (const name of ['f1', 'f2', 'f3']) store.files.markGone(directoryId, name, 'gone')
      used.file('e', 'new-place', 1)
      expect(store.files.countGone()).toEqual({ all: 3, leftOut: 0 })
      expect(store.files.countMoved(mirror.id)).toEqual({ now: 1, ever: 2, found: 2 })
      store.files.removeGone(99)
      store.files.endScan(mirror.id)
      expect(store.files.countMoved(mirror.id)).toEqual({ now: 0, ever: 0, found: 0 })
    })
    expect(store.files.count(mirror.id)).toBe(3)
    const superseded = store.report
      .listSuperseded(mirror.id)
      .map(({ path, reason, resourceId }) => [path, reason, resourceId])
    expect(superseded).toEqual([['d/f3', 'gone', 'r3']])
    expect(store.contents.get(used.content(3).id)).toMatchObject({ state: 'stored', resourceId: 'r3' })
  })
})

describe('the counts of a status', () => {
  /** A file of each state, some of them twice, in one of two mirrors. */
  function fillMirrors(used: ReturnType<typeof openUsed>): void {
    const { store, file } = used
    const seen = { status: 'completed', searchableAt: 1, seenAt: 1 }
    const stored = (number: number, outcome: IngestionOutcome, note: string | null) => {
      const id = file('d', `f${number}`, number)
      markStored(store, id, `r${number}`)
      if (number % 2 === 0) store.files.receiveAll(id)
      store.contents.setIngestion(id, { ...seen, outcome, note })
      return id
    }
    file('d', 'new', 100)
    store.contents.setState(file('d', 'sending', 101), 'sending')
    store.contents.markInDoubt(file('d', 'doubt', 102))
    const refused = [103, 104].map((number) => file('d', `refused${number}`, number))
    for (const id of refused) store.contents.markRefused(id, { code: 'invalid', message: 'no', retryAt: null })
    store.quarantine.setAside(refused[0] ?? 0)
    for (const [index, outcome] of (['pending', 'searchable', 'partial', 'failed', 'unknown'] as const).entries()) {
      for (const [at, note] of [null, null, WITHOUT_TEXT, WITHOUT_TEXT, 'a warning'].entries())
        stored(index * 10 + at, outcome, note)
    }
    store.quarantine.setAside(stored(60, 'failed', null))
    file('e', 'copy', 2)
  }

  test.each([1, 2])('a status counts files as reading each one does, of %i mirrors', (mirrors) => {
    using used = openUsed()
    const { store, mirror } = used
    store.write(() => {
      fillMirrors(used)
      if (mirrors > 1) used.secondMirror()
    })
    for (const { id } of store.mirrors.list()) {
      const counts = countFiles(store.report.tallyFiles(id), false)
      expect(counts).toEqual(countFiles(store.report.tallyStates(id), false))
    }
    const counts = countFiles(store.report.tallyFiles(mirror.id), true)
    expect(counts).toMatchObject({ known: 32, toSend: 1, sending: 1, inDoubt: 1, inIngestion: 6 })
  })
})

test('a rehearsal leaves nothing of what it wrote', async () => {
  using used = openUsed()
  const { store, stateDir } = used
  store.write(() => used.file('d', 'a', 1))
  const before = dumpStore(stateDir)
  const seen = await store.rollBackAfter(async () => {
    store.write(() => used.file('d', 'b', 2))
    await Promise.resolve()
    store.write(() => store.mirrors.renameLibrary(1, 'Other'))
    return store.files.count(1)
  })
  expect(seen).toBe(2)
  expect(dumpStore(stateDir)).toEqual(before)
  expect(store.files.count(1)).toBe(1)
})

test('a rehearsal that fails leaves nothing either', async () => {
  using used = openUsed()
  const { store } = used
  const failing = store.rollBackAfter(async () => {
    store.write(() => used.file('d', 'b', 2))
    throw new Error('stop')
  })
  await expect(failing).rejects.toThrow('stop')
  expect(store.files.count(1)).toBe(0)
  store.write(() => used.file('d', 'c', 3))
  expect(store.files.count(1)).toBe(1)
})

test('a failing transaction leaves nothing behind', () => {
  using used = openUsed()
  const { store } = used
  const failing = () =>
    store.write(() => {
      used.file('d', 'a', 1)
      throw new Error('stop')
    })
  expect(failing).toThrow('stop')
  expect(store.files.count(1)).toBe(0)
})
