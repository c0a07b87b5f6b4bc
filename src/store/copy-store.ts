import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isoTime } from '../foundation/text/times.ts'
import { copyStoreInto, copyStoreTo, openStore, type Store } from './open-store.ts'

/** Copies the store in `directory` into a file beside it (0600), and returns the file's path. */
export function keepStoreCopy(directory: string, nowMs: number): string {
  const file = join(directory, `store.db.${isoTime(nowMs).replaceAll(':', '-')}.bak`)
  copyStoreTo(directory, file)
  chmodSync(file, 0o600)
  return file
}

/** Opens a temporary copy of the store in `directory`, which another process may hold; disposing deletes it. */
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
