/** Files that a scan hashed, merged into the store many at once. */
import { expect, test } from 'vitest'
import { openStore } from '../../../src/store/open-store.ts'
import { OPEN_FILES_START } from '../../../src/store/tables/files.ts'
import { pinMirror } from '../../support/record-file.ts'
import { temporaryDirectory } from '../../support/temporary.ts'

const TIMES = { mtimeNs: 2n ** 62n + 1n, ctimeNs: 2n ** 61n + 1n, inode: 2n ** 60n + 1n }

function openMirrored() {
  const store = openStore(temporaryDirectory())
  const mirror = pinMirror(store)
  const directoryId = store.directories.ensure(mirror.id, 'd')
  const add = (name: string, number: number, last: number, mime = 'text/plain') => {
    const previous = store.files.find(directoryId, name)
    const sha256 = Buffer.alloc(32, number)
    store.scannedFiles.record(
      mirror,
      { directoryId, name, size: number, ...TIMES, isRacy: false, sha256, mime, previous },
      last,
    )
  }
  const record = (files: Readonly<Record<string, number>>) =>
    store.write(() => {
      const last = store.scannedFiles.lastContentId()
      for (const [name, number] of Object.entries(files)) add(name, number, last)
    })
  const contentOf = (name: string) => store.files.find(directoryId, name)?.contentId
  return { store, mirror, directoryId, add, record, contentOf, [Symbol.dispose]: () => store[Symbol.dispose]() }
}

test('Files of one batch with equal bytes share a content', () => {
  using used = openMirrored()
  used.record({ a: 2, b: 1, c: 2 })
  expect(used.contentOf('a')).toBe(used.contentOf('c'))
  expect(used.contentOf('a')).not.toBe(used.contentOf('b'))
  const open = used.store.files.listOpen(used.mirror.id, OPEN_FILES_START, 9)
  expect(open.map(({ name, size }) => [name, size])).toEqual([
    ['a', 2],
    ['b', 1],
    ['c', 2],
  ])
  expect(used.store.files.findForCompare(used.mirror.id, 'd', 'a')).toEqual(['a', 2n, ...Object.values(TIMES), 0n])
})

test('Contents are numbered in the order of their files', () => {
  using used = openMirrored()
  used.record({ a: 9, b: 1, c: 5 })
  used.record({ d: 8, e: 1, f: 2 })
  const numbers = ['a', 'b', 'c', 'd', 'f'].map(used.contentOf)
  expect(numbers).toEqual(numbers.toSorted((one, other) => Number(one) - Number(other)))
  expect(new Set(numbers).size).toBe(5)
})

test('A file keeps its receipt only with its content', () => {
  using used = openMirrored()
  const { store, directoryId } = used
  used.record({ same: 1, other: 2, fresh: 3 })
  const open = used.contentOf('fresh')
  store.write(() => {
    for (const name of ['same', 'other']) store.files.receiveAll(used.contentOf(name) ?? 0)
  })
  used.record({ same: 1, other: 1, fresh: 3 })
  const receivedOf = (name: string) => store.files.find(directoryId, name)
  expect(receivedOf('same')).toEqual({ contentId: used.contentOf('other'), isReceived: 1 })
  expect(receivedOf('other')).toEqual({ contentId: used.contentOf('same'), isReceived: 0 })
  expect(receivedOf('fresh')).toEqual({ contentId: open, isReceived: 0 })
})

test('Only new paths of earlier contents may be moves', () => {
  using used = openMirrored()
  const { store, mirror, directoryId } = used
  used.record({ a: 1, b: 2 })
  used.record({ twin: 3, twins: 3 })
  used.record({ a: 1, b: 1, c: 2 })
  store.write(() => {
    for (const name of ['a', 'b', 'twin']) store.files.markGone(directoryId, name, 'gone')
  })
  // b and a have content 1 now, of which no path is new; c is a new path of content 2, which no gone file has.
  expect(store.files.countMoved(mirror.id)).toEqual({ now: 0, ever: 0, found: 0 })
  used.record({ moved: 1 })
  expect(store.files.countMoved(mirror.id)).toEqual({ now: 1, ever: 1, found: 1 })
})

test('A transaction that fails leaves no file collected', () => {
  using used = openMirrored()
  const failing = () =>
    used.store.write(() => {
      used.add('lost', 1, 0)
      throw new Error('stop')
    })
  expect(failing).toThrow('stop')
  used.record({ kept: 2 })
  expect(used.store.files.listOpen(used.mirror.id, OPEN_FILES_START, 9).map(({ name }) => name)).toEqual(['kept'])
})
