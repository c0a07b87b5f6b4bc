import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { copyStoreInto, openStore, type Store } from './open-store.ts'

/** A store with what the one in `directory` holds now, whoever holds that; it is gone when it is disposed of. */
export function openStoreCopy(directory: string): Store {
  const copy = mkdtempSync(join(tmpdir(), 'shelfd-copy-'))
  const remove = () => rmSync(copy, { recursive: true, force: true })
  try {
    copyStoreInto(directory, copy)
    const store = openStore(copy)
    return {
      ...store,
      [Symbol.dispose]: () => {
        store[Symbol.dispose]()
        remove()
      },
    }
  } catch (error) {
    remove()
    throw error
  }
}
