import { expect, test } from 'vitest'
import { silentLogger } from '../../src/foundation/logger.ts'
import type { Ledger, OpenedSession } from '../../src/ledger/ledger.ts'
import type { Published } from '../../src/ledger/published.ts'
import type { Session } from '../../src/sync/fleet/host-session.ts'
import { Publication } from '../../src/sync/fleet/membership.ts'
import { MemoryLedger } from '../ledger/memory-ledger.ts'
import { mirror, problem, run } from '../ledger/sentences/published.ts'
import { manualClock } from '../support/manual-clock.ts'

const since = { monotonicMs: 0, bootMs: 0 }

/** A host whose calls of `publish` are recorded, and fail as long as `isAway`. */
async function publishingHost(first: Published) {
  const clock = manualClock(0)
  const shared = new MemoryLedger(clock)
  const calls: Published[] = []
  const host = { now: first, calls, clock, isAway: false, readings: 0, publication, session, reopen }
  const ledger: Ledger = shared.connect((call) => (call === 'publish' && host.isAway ? 'call' : undefined))
  const recorded: Ledger = {
    ...ledger,
    publish: (id, told) => {
      calls.push(told)
      return ledger.publish(id, told)
    },
  }
  const open = (previous: bigint | null) => ledger.open({ key: 'k', name: 'nas', version: '1' }, previous)
  let opened: OpenedSession = await open(null)
  const made = new Publication({ clock, logger: silentLogger }, async () => {
    host.readings += 1
    return host.now
  })
  function publication(): Publication {
    return made
  }
  function session(): Session {
    return { ...opened, ledger: recorded, since }
  }
  async function reopen(): Promise<void> {
    opened = await open(opened.session)
  }
  return host
}

const TOLD: Published = {
  sentInDay: 1,
  mirrors: [mirror('papers')],
  problems: [problem('papers', 'a')],
  runs: [run(1)],
}

test('a host tells what changed, and nothing when nothing did', async () => {
  const host = await publishingHost(TOLD)
  await host.publication().publish(host.session())
  await host.publication().publish(host.session())
  expect(host.calls).toEqual([TOLD])
  host.now = { ...TOLD, mirrors: [mirror('papers', { isPaused: true })] }
  await host.publication().publish(host.session())
  expect(host.calls.at(-1)).toEqual({ ...host.now, problems: undefined, runs: undefined })
})

test('a host tells all of it again in a new session, which may be at another ledger', async () => {
  const host = await publishingHost(TOLD)
  await host.publication().publish(host.session())
  await host.reopen()
  await host.publication().publish(host.session())
  expect(host.calls).toEqual([TOLD, TOLD])
})

test('a host reads its state for others at most once a minute', async () => {
  const host = await publishingHost(TOLD)
  for (let second = 0; second < 120; second += 10) {
    await host.publication().publishIfDue(host.session())
    await host.clock.advance(10_000)
  }
  expect(host.readings).toBe(2)
})

test('what cannot be told stops nothing, and is told later', async () => {
  const host = await publishingHost(TOLD)
  host.isAway = true
  await host.publication().publish(host.session())
  host.isAway = false
  await host.publication().publish(host.session())
  expect(host.calls).toEqual([TOLD, TOLD])
})
