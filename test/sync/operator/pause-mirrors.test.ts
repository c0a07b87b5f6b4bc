import { expect, test } from 'vitest'
import { openStore } from '../../../src/store/open-store.ts'
import { isPaused, pauseMirrors, resumeMirrors } from '../../../src/sync/operator/pause-mirrors.ts'
import { temporaryDirectory } from '../../support/temporary.ts'

const NAMES = ['papers', 'mail']

test('a pause outlasts the process that made it', () => {
  const directory = temporaryDirectory()
  {
    using store = openStore(directory)
    pauseMirrors(store, ['papers'])
  }
  using store = openStore(directory)
  expect(NAMES.map((name) => isPaused(store, name))).toEqual([true, false])
})

test('a pause of all mirrors includes one resumed before', () => {
  using store = openStore(temporaryDirectory())
  pauseMirrors(store, [])
  expect(NAMES.map((name) => isPaused(store, name))).toEqual([true, true])
  resumeMirrors(store, ['papers'])
  expect(NAMES.map((name) => isPaused(store, name))).toEqual([false, true])
  pauseMirrors(store, [])
  expect(NAMES.map((name) => isPaused(store, name))).toEqual([true, true])
})

test('a pause of one mirror ends when all are resumed', () => {
  using store = openStore(temporaryDirectory())
  pauseMirrors(store, ['papers'])
  resumeMirrors(store, [])
  expect(NAMES.map((name) => isPaused(store, name))).toEqual([false, false])
})
