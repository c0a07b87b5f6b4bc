import { expect, test } from 'vitest'
import { openStore, openStoreReader } from '../../../src/store/open-store.ts'
import { temporaryDirectory } from '../../support/temporary.ts'

test('key-values outlive the process that wrote them', () => {
  const stateDir = temporaryDirectory()
  {
    using store = openStore(stateDir)
    store.write(() => store.keyValues.set('due:Papers', 'first'))
    store.write(() => store.keyValues.set('due:Papers', 'second'))
  }
  using reader = openStoreReader(stateDir)
  expect(reader?.keyValues.get('due:Papers')).toBe('second')
})

test('key-values are listed by prefix, taken literally', () => {
  using store = openStore(temporaryDirectory())
  store.write(() => {
    for (const key of ['pause:%', 'pause:a_b', 'pause:ä', 'Pause:x', 'due:a']) store.keyValues.set(key, key)
  })
  expect(store.keyValues.list('pause:').map(({ key }) => key)).toEqual(['pause:%', 'pause:a_b', 'pause:ä'])
  expect(store.keyValues.list('pause:a_').map(({ value }) => value)).toEqual(['pause:a_b'])
  expect(store.keyValues.list('')).toHaveLength(5)
})

test('key-values never touch the records of the store itself', () => {
  const stateDir = temporaryDirectory()
  for (const opened of [1, 2]) {
    using store = openStore(stateDir)
    expect(store.keyValues.get('generation')).toBe(opened === 1 ? undefined : 'mine')
    store.write(() => store.keyValues.set('generation', 'mine'))
  }
  using store = openStore(stateDir)
  store.write(() => store.keyValues.remove('generation'))
  expect(store.keyValues.list('')).toEqual([])
})
