import { describe, expect, test } from 'vitest'
import { systemClock } from '../../src/foundation/clock.ts'
import { InterruptedError, TemporaryError } from '../../src/foundation/errors.ts'
import type { Ledger, LedgerLibrary, WantedContent } from '../../src/ledger/ledger.ts'
import { Membership } from '../../src/sync/fleet/membership.ts'
import type { Progress } from '../../src/sync/progress.ts'
import { MemoryLedger } from '../ledger/memory-ledger.ts'
import { type EngineOptions, startEngine } from '../support/engine.ts'
import { until } from '../support/mirror-controller.ts'
import { manyFiles, type Tree } from '../support/temporary.ts'

interface ClaimHooks {
  onAsked?: ((library: LedgerLibrary, contents: readonly WantedContent[]) => Promise<void>) | undefined
  onAnswered?: (() => void) | undefined
  onPeeked?: () => void
}

/** An engine whose host is connected to its ledger as soon as the test allows it. */
async function engineOfFleet(files: Tree, options: EngineOptions = {}) {
  const started = await startEngine(files, options)
  const { engine } = started
  const shared = new MemoryLedger(engine.clock)
  const latch = Promise.withResolvers<void>()
  const asked: string[] = []
  const hooks: ClaimHooks = {}
  const connect = async (): Promise<Ledger> => {
    await latch.promise
    const ledger = shared.connect()
    return {
      ...ledger,
      claim: async (session, library, contents, limits) => {
        asked.push(...contents.map(({ place }) => place.path))
        await hooks.onAsked?.(library, contents)
        const results = await ledger.claim(session, library, contents, limits)
        hooks.onAnswered?.()
        return results
      },
      peek: async (...asked) => {
        hooks.onPeeked?.()
        return await ledger.peek(...asked)
      },
    }
  }
  const fleet = new Membership(engine, {
    ...{ connect, name: 'nas', version: '1.0.0', limits: { newPerDay: null }, bootMs: engine.clock.monotonicMs },
    retry: { attempts: 9, firstDelayMs: 1, maxDelayMs: 1, forMs: 60_000 },
  })
  Object.assign(engine, { fleet })
  return { ...started, fleet, shared, asked, hooks, open: latch.resolve }
}

function isIn({ progress }: { readonly progress: Progress }, phase: Progress['phase']): () => boolean {
  return () => progress.phase === phase
}

describe('a run that waits', () => {
  test('progress names the ledger of hosts that is asked', async () => {
    const { tested, engine, mirror, fleet, open } = await engineOfFleet({ 'a.md': 'a' })
    const running = tested.sync([mirror])
    await until('it waits for the ledger', isIn(engine, 'ledger'))
    open()
    expect((await running).outcome).toBe('done')
    await fleet[Symbol.asyncDispose]()
  })

  test('progress names the scan of another mirror', async () => {
    const { tested, engine, mirror } = await startEngine({ 'a.md': 'a' })
    const lock = await engine.scanMutex.lock()
    const running = tested.sync([mirror])
    await until('it waits for its turn', isIn(engine, 'turn'))
    lock[Symbol.dispose]()
    expect((await running).outcome).toBe('done')
  })
})

test('Ctrl-C ends a dry run after the page that the ledger is asked for', async () => {
  const stop = new AbortController()
  const { tested, mirror, fleet, open, hooks } = await engineOfFleet(manyFiles(1_200, 3), { signal: stop.signal })
  open()
  let asked = 0
  hooks.onPeeked = () => {
    asked += 1
    stop.abort(new InterruptedError())
  }
  expect((await tested.sync([mirror], { isDryRun: true })).outcome).toBe('interrupted')
  expect(asked).toBe(1)
  await fleet[Symbol.asyncDispose]()
})

test('claims run ahead of slow uploads by a few, so that other hosts send the rest [P21]', async () => {
  const { tested, engine, service, mirror, fleet, shared, open } = await engineOfFleet(manyFiles(300, 300))
  open()
  const held = service.holdUploads(1, engine.limits.transfers)
  const running = tested.sync([mirror])
  await held.begun
  expect([...shared.tables.claims.entries()].length).toBeLessThan(100)
  held.release()
  expect((await running).outcome).toBe('done')
  expect([...shared.tables.contents.entries()]).toHaveLength(300)
  await fleet[Symbol.asyncDispose]()
})

test('a full disk hides no doubt that the ledger told [P3, P4]', async () => {
  const { tested, engine, store, mirror, fleet, shared, hooks, open } = await engineOfFleet({ 'a.md': 'a' })
  open()
  hooks.onAsked = async (library, contents) => {
    hooks.onAsked = undefined
    const dead = shared.connect()
    const { session } = await dead.open({ key: 'dead', name: 'dead', version: '1.0.0' }, null)
    await dead.claim(session, library, contents, { newPerDay: null })
    await dead.close(session)
  }
  let isFull = false
  hooks.onAnswered = () => {
    isFull = true
    hooks.onAnswered = undefined
  }
  const { write } = store
  Object.assign(engine.store, {
    write: (work: () => unknown) => {
      if (!isFull) return write(work)
      isFull = false
      throw new TemporaryError('disk-full', 'The disk is full')
    },
  })
  expect((await tested.sync([mirror])).outcome).not.toBe('done')
  expect((await tested.sync([mirror])).outcome).toBe('done')
  expect(store.uploads.listByContent(1).map(({ outcome }) => outcome)).toEqual(['absent', 'created'])
  await fleet[Symbol.asyncDispose]()
})

test('a run whose search fails gives back what it found not to be there [P21]', async () => {
  let aheadMs = 0
  const clock = { ...systemClock, nowMs: () => Date.now() + aheadMs }
  const { tested, service, store, mirror, fleet, shared, open } = await engineOfFleet(
    { 'a/x.md': 'x', 'b/y.md': 'y' },
    { clock },
  )
  open()
  service.fault = ({ route }) => (route === 'uploadFile' ? 'reset-before' : undefined)
  await tested.sync([mirror])
  expect([...shared.tables.claims.entries()]).toHaveLength(2)
  // Both are searched for again once their pause is over.
  aheadMs = 3_600_000
  let searches = 0
  service.answer = ({ route }) => {
    searches += Number(route === 'listDirectory')
    return searches === 2 ? { status: 401, body: {} } : undefined
  }
  expect((await tested.sync([mirror])).failure).toMatchObject({ code: 'credential-refused' })
  const states = [1, 2].map((id) => store.contents.getUploadState(id).state)
  expect(states.toSorted()).toEqual(['doubt', 'new'])
  expect([...shared.tables.claims.entries()]).toHaveLength(1)
  await fleet[Symbol.asyncDispose]()
})
