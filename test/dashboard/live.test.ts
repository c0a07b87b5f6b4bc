import { expect, onTestFinished, test } from 'vitest'
import type { LiveEvent } from '../../src/contract/dashboard.ts'
import { LiveStream } from '../../src/dashboard/live.ts'

const eventOf = (logNumber: number): LiveEvent => ({
  kind: 'overview',
  overview: {
    version: '1',
    service: 'https://library.example.com',
    daemon: null,
    troubles: [],
    isInFleet: false,
    mirrors: [],
  },
  logNumber,
})

/** A stream over what `read` returns, and a way to follow it as a client. */
function streamOf(read: () => Promise<LiveEvent>) {
  const live = new LiveStream(read)
  const follow = () => {
    const client = { got: [] as unknown[], unreadBytes: 0, write: (event: unknown) => void client.got.push(event) }
    const leaving = new AbortController()
    const ended = live.stream(client, leaving.signal)
    const leave = async () => {
      leaving.abort()
      await ended
    }
    onTestFinished(leave)
    return { client, leave }
  }
  return { live, follow }
}

test('every client gets each event once, whenever it comes', async () => {
  let number = 1
  let readings = 0
  const { live, follow } = streamOf(async () => {
    readings += 1
    return eventOf(number)
  })
  const { client: first } = follow()
  await expect.poll(() => first.got).toEqual([eventOf(1)])
  const { client: second } = follow()
  await expect.poll(() => second.got).toEqual([eventOf(1)])
  const before = readings
  live.refresh()
  await expect.poll(() => readings).toBeGreaterThan(before)
  number = 2
  live.refresh()
  for (const { got } of [first, second]) await expect.poll(() => got).toEqual([eventOf(1), eventOf(2)])
})

test('a client that does not read gets the newest event later', async () => {
  let number = 1
  const { live, follow } = streamOf(async () => eventOf(number))
  const [{ client: slow }, { client: quick }] = [follow(), follow()]
  await expect.poll(() => slow.got.length).toBe(1)
  slow.unreadBytes = 1
  for (number = 2; number <= 3; number += 1) {
    live.refresh()
    await expect.poll(() => quick.got.length).toBe(number)
  }
  number = 3
  expect(slow.got).toEqual([eventOf(1)])
  slow.unreadBytes = 0
  live.refresh()
  await expect.poll(() => slow.got).toEqual([eventOf(1), eventOf(3)])
})

test('a state that cannot be read is an event, and the stream continues', async () => {
  let isBroken = true
  const { live, follow } = streamOf(async () => {
    if (isBroken) throw new Error('the store is damaged')
    return eventOf(1)
  })
  const { client } = follow()
  await expect.poll(() => client.got).toEqual([{ kind: 'failure', message: 'the store is damaged' }])
  isBroken = false
  live.refresh()
  await expect.poll(() => client.got.at(-1)).toEqual(eventOf(1))
})

test('nothing is read while nobody looks', async () => {
  let readings = 0
  const { live, follow } = streamOf(async () => {
    readings += 1
    return eventOf(readings)
  })
  const { client, leave } = follow()
  await expect.poll(() => client.got.length).toBeGreaterThan(0)
  await leave()
  live.refresh()
  const { client: later } = follow()
  await expect.poll(() => later.got.length).toBeGreaterThan(0)
  expect(client.got.length, 'whoever left gets nothing more').toBeLessThan(readings)
})
