import type { Store, StoreReader } from '../../store/open-store.ts'

/** The value that is stored for all mirrors, or for one mirror; a mirror's own value takes precedence. */
type PauseState = 'paused' | 'running'

const FOR_ALL = 'pause'
const FOR_ONE = 'pause:'

/** Pauses the daemon's uploads for these mirrors, or for all if none is named, until they are resumed. */
export function pauseMirrors(store: Store, names: readonly string[]): void {
  store.write(() => setState(store, names, 'paused'))
}

export function resumeMirrors(store: Store, names: readonly string[]): void {
  store.write(() => setState(store, names, 'running'))
}

export function isPaused({ keyValues }: StoreReader, name: string): boolean {
  return (keyValues.get(FOR_ONE + name) ?? keyValues.get(FOR_ALL)) === ('paused' satisfies PauseState)
}

export function listPauseKeys({ keyValues }: StoreReader): string[] {
  return keyValues.list(FOR_ONE).map(({ key }) => key.slice(FOR_ONE.length))
}

export function forgetPause({ keyValues }: StoreReader, name: string): void {
  keyValues.remove(FOR_ONE + name)
}

function setState({ keyValues }: Store, names: readonly string[], state: PauseState): void {
  for (const name of names) keyValues.set(FOR_ONE + name, state)
  if (names.length > 0) return
  for (const { key } of keyValues.list(FOR_ONE)) keyValues.remove(key)
  keyValues.set(FOR_ALL, state)
}
