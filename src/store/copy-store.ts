import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { copyStoreInto, copyStoreTo, openStore, type Store } from './open-store.ts'

/** Writes what the store in `directory` holds now into a file beside it, and gives the file's path. */
export function keepStoreCopy(directory: string, nowMs: number): string {
  const file = join(directory, `store.db.${new Date(nowMs).toISOString().replaceAll(':', '-')}.bak`)
  copyStoreTo(directory, file)
  chmodSync(file, 0o600)
  return file
}

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
