import { expect, test } from 'vitest'
import { openStore } from '../../../src/store/open-store.ts'
import { pinMirror } from '../../support/record-file.ts'
import { temporaryDirectory } from '../../support/temporary.ts'

test('what was set aside counts again with another code, and once it was over', () => {
  using store = openStore(temporaryDirectory())
  const mirror = store.write(() => pinMirror(store))
  const setAside = () => store.problems.find(mirror.id, 'a')?.isSetAside
  const record = (code: string) =>
    store.write(() => store.problems.record(mirror.id, { path: 'a', code, message: 'm' }, 1))
  record('unreadable')
  expect(store.write(() => store.problems.setAside(mirror.name, 'a', true))).toBe(true)
  expect(
    store.write(() => store.problems.setAside(mirror.name, 'a', true)),
    'again',
  ).toBe(false)
  record('unreadable')
  expect([setAside(), store.problems.countByCode(mirror.id), store.problems.listOpen(mirror.id)]).toEqual([1, [], []])
  record('io-error')
  expect(setAside()).toBe(0)
  store.write(() => store.problems.setAside(mirror.name, 'a', true))
  store.write(() => store.problems.clear(mirror.id, 'a'))
  record('io-error')
  expect(setAside()).toBe(0)
})
