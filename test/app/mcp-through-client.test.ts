import { expect, test } from 'vitest'
import { ServiceLease } from '../../src/app/mcp-through-client.ts'
import { manualClock } from '../support/manual-clock.ts'

/** A lease of a service that writes down when it is opened and closed. */
function leaseOf(isReachable: () => boolean = () => true) {
  const events: string[] = []
  const clock = manualClock()
  const lease = new ServiceLease(async () => {
    if (!isReachable()) throw new Error('not now')
    events.push('opened')
    return {
      client: 'the client',
      identity: 'the service',
      [Symbol.asyncDispose]: async () => {
        events.push('closed')
      },
    }
  }, clock)
  return { lease, clock, events }
}

test('a lease closes the service 5 s after the last call, not before', async () => {
  const { lease, clock, events } = leaseOf()
  const [one, two] = [await lease.acquire(), await lease.acquire()]
  expect([one.client, events]).toEqual(['the client', ['opened']])
  one[Symbol.dispose]()
  await clock.advance(60_000)
  two[Symbol.dispose]()
  await clock.advance(4_000)
  ;(await lease.acquire())[Symbol.dispose]()
  await clock.advance(4_900)
  expect(events).toEqual(['opened'])
  await clock.advance(200)
  expect(events).toEqual(['opened', 'closed'])
})

test('a lease opens the service again after it was closed', async () => {
  const { lease, clock, events } = leaseOf()
  ;(await lease.acquire())[Symbol.dispose]()
  await clock.advance(6_000)
  ;(await lease.acquire())[Symbol.dispose]()
  await lease[Symbol.asyncDispose]()
  expect(events).toEqual(['opened', 'closed', 'opened', 'closed'])
})

test('a lease tries again to open an unreachable service', async () => {
  let isReachable = false
  const { lease, events } = leaseOf(() => isReachable)
  await expect(lease.acquire()).rejects.toThrow('not now')
  isReachable = true
  ;(await lease.acquire())[Symbol.dispose]()
  expect(events).toEqual(['opened'])
})
