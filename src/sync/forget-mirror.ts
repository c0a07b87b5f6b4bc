import { UsageError } from '../foundation/errors.ts'
import { keepStoreCopy } from '../store/copy-store.ts'
import type { Store } from '../store/open-store.ts'
import { forgetPause } from './pause.ts'

/**
 * Forgets a mirror and what the store knows for it alone; the library and the disk do not change. Returns the path of a copy
 * of the store from before. Throws UsageError `unknown-mirror`.
 */
export function forgetMirror(store: Store, name: string, nowMs: number): string {
  const row = store.mirrors.findByName(name)
  if (!row) throw new UsageError('unknown-mirror', `Cannot forget the mirror "${name}": the store does not know it`)
  const copy = keepStoreCopy(store.directory, nowMs)
  store.write(() => {
    store.mirrors.forget({ id: row.id, libraryId: row.library.id })
    forgetPause(store, name)
  })
  return copy
}
