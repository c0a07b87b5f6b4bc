/** Whether a store may lack acknowledged uploads, as writers and readers see it. */
import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openStore, openStoreReader } from '../../src/store/open-store.ts'
import { temporaryDirectory } from '../support/temporary.ts'

function pinMirror(directory: string): void {
  using store = openStore(directory)
  store.write(() => {
    const libraryId = store.mirrors.pinLibrary({ origin: 'https://a', tenantId: 1, remoteId: 'l', name: 'L' }, 1)
    const root = { rootDevice: 1n, rootInode: 2n, rootBirthNs: null, rootVolumeId: null, rootVolumeBytes: null }
    store.mirrors.pinMirror({ name: 'm', path: '/m', libraryId, remotePath: '/m', isAdHoc: true, ...root }, 1)
  })
}

function mayLackReceipts(directory: string): boolean | undefined {
  using reader = openStoreReader(directory)
  return reader?.mayLackReceipts()
}

test('a copy of a store may lack what was sent since', () => {
  const directory = temporaryDirectory()
  pinMirror(directory)
  expect(mayLackReceipts(directory)).toBe(false)
  const copy = join(temporaryDirectory(), 'copy')
  cpSync(directory, copy, { recursive: true })
  expect(mayLackReceipts(copy)).toBe(true)
  {
    // A reader follows the writer's decision, whatever the generation record says.
    using holder = openStore(copy)
    expect([holder.mayLackReceipts(), mayLackReceipts(copy)]).toEqual([true, true])
    holder.write(() => holder.foreign.recordSearched(1))
    expect([holder.mayLackReceipts(), mayLackReceipts(copy)]).toEqual([false, false])
  }
  expect(mayLackReceipts(copy)).toBe(false)
})
