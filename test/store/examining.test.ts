import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { checkStore, copyStoreInto, openStore, openStoreReader } from '../../src/store/open-store.ts'
import { temporaryDirectory } from '../support/temporary.ts'

const ORIGIN = 'https://a'

function usedStore(): string {
  const directory = temporaryDirectory()
  using store = openStore(directory)
  store.write(() => store.mirrors.pinLibrary({ origin: ORIGIN, tenantId: 1, remoteId: 'l', name: 'L' }, 1))
  return directory
}

test('a store is examined while another process holds it, and an empty directory has none', () => {
  const directory = usedStore()
  using store = openStore(directory)
  expect(checkStore(store.directory)).toMatchObject({ isOlder: false })
  expect(checkStore(temporaryDirectory())).toBeUndefined()
})

test('a deleted store is examined as lost, not as new', () => {
  const directory = usedStore()
  rmSync(join(directory, 'store.db'))
  expect(() => checkStore(directory)).toThrow(/is gone, but its file "generation" is still there/)
})

test('a copy of a store opens like the store', () => {
  const target = temporaryDirectory()
  copyStoreInto(usedStore(), target)
  using copy = openStoreReader(target)
  expect(copy?.mayLackReceipts()).toBe(false)
})

test('a file in the place of the state directory is named, with what to do', () => {
  const directory = join(temporaryDirectory(), 'state')
  writeFileSync(directory, '')
  expect(() => openStore(directory)).toThrow(/a file is in its place; move that file away/)
})
