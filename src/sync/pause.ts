import type { Store, StoreReader } from '../store/open-store.ts'

/** What is noted for all mirrors, and for one whatever holds for all. */
type Note = 'paused' | 'running'

const FOR_ALL = 'pause'
const FOR_ONE = 'pause:'

/** Holds back what the daemon would upload for these mirrors, for all when none is named, until they are resumed. */
export function pauseMirrors(store: Store, names: readonly string[]): void {
  store.write(() => note(store, names, 'paused'))
}

/** Ends the pause of these mirrors, of all when none is named; the others stay as they are. */
export function resumeMirrors(store: Store, names: readonly string[]): void {
  store.write(() => note(store, names, 'running'))
}

/** Whether the daemon's uploads for this mirror are held back. A sync by hand is not. */
export function isPaused({ keyValues }: StoreReader, name: string): boolean {
  return (keyValues.get(FOR_ONE + name) ?? keyValues.get(FOR_ALL)) === ('paused' satisfies Note)
}

/** Names of all mirrors that have a note of their own. */
export function listPauseKeys({ keyValues }: StoreReader): string[] {
  return keyValues.list(FOR_ONE).map(({ key }) => key.slice(FOR_ONE.length))
}

/** Forgets whether this mirror was paused; call it inside a write. */
export function forgetPause({ keyValues }: StoreReader, name: string): void {
  keyValues.remove(FOR_ONE + name)
}

function note({ keyValues }: Store, names: readonly string[], what: Note): void {
  for (const name of names) keyValues.set(FOR_ONE + name, what)
  if (names.length > 0) return
  for (const { key } of keyValues.list(FOR_ONE)) keyValues.remove(key)
  keyValues.set(FOR_ALL, what)
}
