import type { Store, StoreReader } from '../store/open-store.ts'

/** The value stored for all mirrors, or for one mirror, whose own value takes precedence. */
type PauseState = 'paused' | 'running'

const FOR_ALL = 'pause'
const FOR_ONE = 'pause:'

/** Pauses the daemon's uploads for these mirrors, or for all if none is named, until they are resumed. */
export function pauseMirrors(store: Store, names: readonly string[]): void {
  store.write(() => setState(store, names, 'paused'))
}

/** Ends the pause of these mirrors, or of all if none is named. */
export function resumeMirrors(store: Store, names: readonly string[]): void {
  store.write(() => setState(store, names, 'running'))
}

/** Returns whether the daemon's uploads for this mirror are paused. A sync by hand ignores the pause. */
export function isPaused({ keyValues }: StoreReader, name: string): boolean {
  return (keyValues.get(FOR_ONE + name) ?? keyValues.get(FOR_ALL)) === ('paused' satisfies PauseState)
}

/** Returns the names of all mirrors that have a value of their own. */
export function listPauseKeys({ keyValues }: StoreReader): string[] {
  return keyValues.list(FOR_ONE).map(({ key }) => key.slice(FOR_ONE.length))
}

/** Forgets whether this mirror was paused. Call it inside a transaction. */
export function forgetPause({ keyValues }: StoreReader, name: string): void {
  keyValues.remove(FOR_ONE + name)
}

function setState({ keyValues }: Store, names: readonly string[], what: PauseState): void {
  for (const name of names) keyValues.set(FOR_ONE + name, what)
  if (names.length > 0) return
  for (const { key } of keyValues.list(FOR_ONE)) keyValues.remove(key)
  keyValues.set(FOR_ALL, what)
}
