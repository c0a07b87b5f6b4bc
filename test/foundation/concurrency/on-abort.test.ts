import { getEventListeners } from 'node:events'
import { expect, test } from 'vitest'
import { onAbort } from '../../../src/foundation/concurrency/on-abort.ts'

test('every listener that remains hears of the abort', () => {
  const controller = new AbortController()
  const heard: string[] = []
  const listen = (name: string) => onAbort(controller.signal, () => heard.push(name))
  listen('first')
  listen('gone')[Symbol.dispose]()
  listen('last')
  expect(getEventListeners(controller.signal, 'abort')).toHaveLength(1)
  controller.abort()
  expect(heard).toEqual(['first', 'last'])
})

test('a signal without listeners keeps none of ours', () => {
  const { signal } = new AbortController()
  const listeners = [onAbort(signal, () => {}), onAbort(signal, () => {})]
  for (const listener of listeners) listener[Symbol.dispose]()
  expect(getEventListeners(signal, 'abort')).toEqual([])
  onAbort(signal, () => {})
  expect(getEventListeners(signal, 'abort')).toHaveLength(1)
})

test('a listener that ends itself leaves the others heard', () => {
  const controller = new AbortController()
  const heard: string[] = []
  const once = onAbort(controller.signal, () => {
    once[Symbol.dispose]()
    heard.push('once')
  })
  onAbort(controller.signal, () => heard.push('other'))
  controller.abort()
  expect(heard).toEqual(['once', 'other'])
})
