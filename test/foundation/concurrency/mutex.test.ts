import { getEventListeners } from 'node:events'
import { expect, test } from 'vitest'
import { Mutex } from '../../../src/foundation/concurrency/mutex.ts'
import { InterruptedError } from '../../../src/foundation/errors.ts'

/** Three who want a mutex that somebody holds: `had` are those who got it, in order. */
async function queueOfThree() {
  const mutex = new Mutex()
  const holder = await mutex.lock()
  const stop = new AbortController()
  const had: string[] = []
  const want = async (name: string, signal?: AbortSignal) => {
    using _lock = await mutex.lock(signal)
    had.push(name)
  }
  const first = want('first')
  const second = want('second', stop.signal)
  const third = want('third', new AbortController().signal)
  return { mutex, holder, stop, had, first, second, third }
}

test('a mutex is held by one after the other, in order', async () => {
  const { holder, had, first, second, third } = await queueOfThree()
  expect(had).toEqual([])
  holder[Symbol.dispose]()
  await Promise.all([first, second, third])
  expect(had).toEqual(['first', 'second', 'third'])
})

test('who gives up waiting for a mutex keeps nobody waiting', async () => {
  const { mutex, holder, stop, had, first, second, third } = await queueOfThree()
  const reason = new InterruptedError('waited long enough')
  stop.abort(reason)
  await expect(second).rejects.toBe(reason)
  await expect(mutex.lock(stop.signal), 'not even when it is asked for later').rejects.toBe(reason)
  expect(had, 'the holder still has it').toEqual([])
  holder[Symbol.dispose]()
  await Promise.all([first, third])
  expect(had).toEqual(['first', 'third'])
})

test('a mutex listens to a signal only while it is waited for', async () => {
  const { mutex, holder, stop, first, second, third } = await queueOfThree()
  holder[Symbol.dispose]()
  await Promise.all([first, second, third])
  using _lock = await mutex.lock(stop.signal)
  expect(getEventListeners(stop.signal, 'abort')).toEqual([])
})
