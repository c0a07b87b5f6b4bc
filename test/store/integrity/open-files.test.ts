/** A store whose files another program deletes, replaces or overwrites while this process holds it. */
import { chmodSync, copyFileSync, renameSync, rmSync, symlinkSync, truncateSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { OperatorError } from '../../../src/foundation/errors.ts'
import { openStore, type Store } from '../../../src/store/open-store.ts'
import { temporaryDirectory } from '../../support/temporary.ts'

/** What another program does; `older` is a copy of the database from before. */
const MISHAPS: Readonly<Record<string, (directory: string, older: string) => void>> = {
  'its log is deleted': (directory) => rmSync(join(directory, 'store.db-wal')),
  'its index is deleted': (directory) => rmSync(join(directory, 'store.db-shm')),
  'its generation is deleted': (directory) => rmSync(join(directory, 'generation')),
  'its directory is moved away': (directory) => renameSync(directory, join(directory, '..', 'away')),
  'its database is replaced': (directory, older) => renameSync(older, join(directory, 'store.db')),
  'its database is overwritten': (directory, older) => copyFileSync(older, join(directory, 'store.db')),
  'its database is emptied': (directory) => truncateSync(join(directory, 'store.db'), 0),
  'its log is emptied': (directory) => truncateSync(join(directory, 'store.db-wal'), 0),
}

function put(store: Store, key: string, bytes: number): void {
  store.write(() => store.keyValues.set(key, 'x'.repeat(bytes)))
}

function fill(directory: string, key: string): void {
  using store = openStore(directory)
  put(store, key, 100_000)
}

/** A store with contents, beside it a copy of its database from when it had fewer. */
function usedStore(): { directory: string; older: string } {
  const home = temporaryDirectory()
  const [directory, older] = [join(home, 'state'), join(home, 'older.db')]
  fill(directory, 'first')
  copyFileSync(join(directory, 'store.db'), older)
  fill(directory, 'second')
  return { directory, older }
}

describe.each(Object.entries(MISHAPS))('a store in use: %s', (_, damage) => {
  test('a store whose files change between two writes takes no more [F-PR-05]', () => {
    const { directory, older } = usedStore()
    using store = openStore(directory)
    put(store, 'third', 10)
    damage(directory, older)
    expect(store.findChange()).toBeInstanceOf(OperatorError)
    expect(() => put(store, 'lost', 10)).toThrow(/while it was in use/)
  })

  test('a store whose files change during a write takes no later one [F-PR-05]', () => {
    const { directory, older } = usedStore()
    using store = openStore(directory)
    const write = () => {
      store.keyValues.set('third', 'x')
      damage(directory, older)
    }
    expect(() => {
      store.write(write)
      put(store, 'lost', 10)
    }).toThrow(OperatorError)
  })
})

test('a store takes its own checkpoints and harmless changes for no damage [F-PR-05]', () => {
  const { directory } = usedStore()
  using store = openStore(directory)
  // Each is more than the log holds until a checkpoint.
  for (const key of ['a', 'b', 'c']) put(store, key, 20 * 2 ** 20)
  store.writeRelaxed(() => store.keyValues.set('d', 'x'.repeat(20 * 2 ** 20)))
  chmodSync(join(directory, 'store.db'), 0o640)
  expect(store.findChange()).toBeUndefined()
  const away = join(directory, '..', 'away')
  renameSync(directory, away)
  symlinkSync(away, directory)
  put(store, 'e', 20 * 2 ** 20)
  expect(store.findChange()).toBeUndefined()
})
