import { describe, expect, test } from 'vitest'
import { openStore } from '../../src/store/open-store.ts'
import { isPaused, pauseMirrors, resumeMirrors } from '../../src/sync/pause.ts'
import { temporaryDirectory } from '../support/temporary.ts'

const NAMES = ['papers', 'mail']

describe('a pause', () => {
  test('outlives the process that made it', () => {
    const directory = temporaryDirectory()
    {
      using store = openStore(directory)
      pauseMirrors(store, ['papers'])
    }
    using store = openStore(directory)
    expect(NAMES.map((name) => isPaused(store, name))).toEqual([true, false])
  })

  test('of all mirrors spares none that is resumed', () => {
    using store = openStore(temporaryDirectory())
    pauseMirrors(store, [])
    expect(NAMES.map((name) => isPaused(store, name))).toEqual([true, true])
    resumeMirrors(store, ['papers'])
    expect(NAMES.map((name) => isPaused(store, name))).toEqual([false, true])
    pauseMirrors(store, [])
    expect(NAMES.map((name) => isPaused(store, name))).toEqual([true, true])
  })

  test('of one mirror ends with that of all', () => {
    using store = openStore(temporaryDirectory())
    pauseMirrors(store, ['papers'])
    resumeMirrors(store, [])
    expect(NAMES.map((name) => isPaused(store, name))).toEqual([false, false])
  })
})
