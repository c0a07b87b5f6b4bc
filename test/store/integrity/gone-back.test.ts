import {
  closeSync,
  copyFileSync,
  existsSync,
  openSync,
  readFileSync,
  readSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, test } from 'vitest'
import { OperatorError } from '../../../src/foundation/errors.ts'
import { openStore, openStoreReader, type Store } from '../../../src/store/open-store.ts'
import { seededRandom } from '../../support/random.ts'
import { pinMirror, recordFile } from '../../support/record-file.ts'
import { temporaryDirectory } from '../../support/temporary.ts'

const WAL_HEADER_BYTES = 32
const FRAME_BYTES = 24 + 4_096
const NAMES = ['store.db', 'store.db-wal', 'generation']

/** A state directory with the mirror of one library, and its store. */
function newStore(): { directory: string; store: Store } {
  const directory = temporaryDirectory()
  const store = openStore(directory)
  store.write(() => pinMirror(store))
  return { directory, store }
}

/** One receipt, durable when this returns. */
function acknowledge(store: Store, index: number): void {
  const sha256 = Buffer.alloc(32, index)
  const mirror = { id: 1, library: { id: 1 } }
  const id = store.writeRelaxed(() => recordFile(store, mirror, { name: `${index}`, sha256 }))
  const stored = { resourceId: `r${index}`, isDuplicate: false, hasSecondLocation: false }
  store.write(() => store.contents.markStored(id, { ...stored, mirrorId: 1, runId: 1, nowMs: 1 }))
}

/** A copy of what is on the disk now, as a kill would leave it. */
function copyOf(directory: string): string {
  const copy = temporaryDirectory()
  for (const name of NAMES.filter((one) => existsSync(join(directory, one))))
    copyFileSync(join(directory, name), join(copy, name))
  return copy
}

/** Expects that readers and writers are both refused with exit 78, or both find each receipt. */
function expectNothingLost(directory: string, acknowledged: number): 'refused' | 'whole' {
  const answers = [openStoreReader, openStore].map((open) => {
    try {
      using store = open(directory)
      for (let index = 1; index <= acknowledged; index += 1)
        expect(store?.contents.findByResource(1, `r${index}`), `receipt ${index}`).toBeDefined()
      return 'whole'
    } catch (error) {
      if (!(error instanceof OperatorError)) throw error
      expect(error).toMatchObject({ code: 'store-damaged', message: expect.stringContaining('restore') })
      return 'refused'
    }
  })
  expect(answers[0]).toBe(answers[1])
  return answers[0] ?? 'refused'
}

describe('a write-ahead log cut after a kill', () => {
  test.each([
    ['at each frame', 0],
    ['in the header of each frame', 11],
    ['in the middle of each page', 24 + 2_000],
    ['before the last byte of each frame', FRAME_BYTES - 1],
  ])('a log cut after a kill (%s) loses no receipt in silence [P1, P24]', (_, extraBytes) => {
    const { directory, store } = newStore()
    for (let index = 1; index <= 6; index += 1) acknowledge(store, index)
    const killed = copyOf(directory)
    store[Symbol.dispose]()
    const log = join(killed, 'store.db-wal')
    const frames = (statSync(log).size - WAL_HEADER_BYTES) / FRAME_BYTES
    expect(frames).toBeGreaterThan(20)
    const seen = { refused: 0, whole: 0 }
    for (let frame = 0; frame < frames; frame += 1) {
      const cut = copyOf(killed)
      truncateSync(join(cut, 'store.db-wal'), WAL_HEADER_BYTES + frame * FRAME_BYTES + extraBytes)
      seen[expectNothingLost(cut, 6)] += 1
    }
    expect(seen.refused).toBe(frames)
    expect(expectNothingLost(copyOf(killed), 6)).toBe('whole')
  })

  test('a log that lacks any receipt is refused [P1, P24, F-PR-10]', () => {
    const { directory, store } = newStore()
    using _ = store
    for (let index = 1; index <= 12; index += 1) {
      const before = copyOf(directory)
      acknowledge(store, index)
      // The earlier log, with the current generation record.
      copyFileSync(join(directory, 'generation'), join(before, 'generation'))
      expect(expectNothingLost(before, index), `after ${index}`).toBe('refused')
      expect(expectNothingLost(copyOf(directory), index), `after ${index}`).toBe('whole')
    }
  })
})

describe('an older copy of the database', () => {
  test.each([
    ['with its log', ['store.db', 'store.db-wal']],
    ['without its log', ['store.db']],
  ])('an older copy of the database (%s) is refused, whenever it was made [P24, F-PR-10]', (_, names) => {
    const { directory, store } = newStore()
    const copies: string[] = []
    for (let index = 1; index <= 6; index += 1) {
      copies.push(copyOf(directory))
      acknowledge(store, index)
    }
    store[Symbol.dispose]()
    const closed = copyOf(directory)
    expect(expectNothingLost(copyOf(closed), 6)).toBe('whole')
    for (const copy of copies) {
      const restored = copyOf(closed)
      for (const name of names) copyFileSync(join(copy, name), join(restored, name))
      expect(expectNothingLost(restored, 6)).toBe('refused')
    }
  })

  test('a database beside an older log is refused [P24]', () => {
    const { directory, store } = newStore()
    const older = copyOf(directory)
    for (let index = 1; index <= 6; index += 1) acknowledge(store, index)
    store[Symbol.dispose]()
    const closed = copyOf(directory)
    copyFileSync(join(older, 'store.db-wal'), join(closed, 'store.db-wal'))
    expect(expectNothingLost(closed, 6)).toBe('refused')
  })
})

test.each([
  ['deleted', (file: string) => rmSync(file)],
  [
    'replaced',
    (file: string) => {
      const bytes = readFileSync(file)
      rmSync(file)
      writeFileSync(file, bytes)
    },
  ],
])('a store that is %s in use takes no more writes [P24, F-PR-05]', (_, damage) => {
  const { directory, store } = newStore()
  using _store = store
  damage(join(directory, 'store.db'))
  expect(() => store.write(() => {})).toThrow(/deleted or replaced/)
  expect(() => store.writeRelaxed(() => {})).toThrow(OperatorError)
})

describe('a flipped bit in a closed store', () => {
  let directory: string
  let descriptor: number

  beforeEach(() => {
    const made = newStore()
    directory = made.directory
    for (let index = 1; index <= 40; index += 1) acknowledge(made.store, index)
    made.store[Symbol.dispose]()
    descriptor = openSync(join(directory, 'store.db'), 'r+')
    return () => closeSync(descriptor)
  })

  function flip(at: number, bit: number): void {
    const byte = Buffer.alloc(1)
    readSync(descriptor, byte, 0, 1, at)
    byte[0] = (byte[0] ?? 0) ^ (1 << bit)
    writeSync(descriptor, byte, 0, 1, at)
  }

  test('a flipped bit is found by readers and writers [P24]', () => {
    const size = statSync(join(directory, 'store.db')).size
    const random = seededRandom(8)
    for (let round = 0; round < 250; round += 1) {
      const at = Math.floor(random() * size)
      const bit = Math.floor(random() * 8)
      flip(at, bit)
      expect(expectNothingLost(directory, 0), `bit ${bit} of byte ${at}`).toBe('refused')
      flip(at, bit)
    }
    expect(expectNothingLost(directory, 40)).toBe('whole')
  })

  test('a flipped bit is found even if no time changed [P24]', () => {
    const file = join(directory, 'store.db')
    flip(statSync(file).size - 100, 3)
    // A failing disk changes bytes and no times.
    const record = readFileSync(join(directory, 'generation'), 'utf8')
    const { ctimeNs } = statSync(file, { bigint: true })
    writeFileSync(join(directory, 'generation'), record.replace(/"ctimeNs":"\d+"/, `"ctimeNs":"${ctimeNs}"`))
    expect(() => openStore(directory)).toThrow(OperatorError)
  })
})
