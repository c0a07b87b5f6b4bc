import type { DaemonClient } from '../daemon/control/client/client.ts'
import { connectToDaemon } from '../daemon/control/client/connect-to-daemon.ts'
import { LockedError } from '../foundation/errors.ts'
import { openStore, type Store } from '../store/open-store.ts'

export interface StoreChange<T> {
  ask(daemon: DaemonClient): Promise<T>
  make(store: Store): T
}

/** Applies the change in the daemon if one runs, else in this process. Throws LockedError when another process holds the store. */
export async function changeStore<T>(stateDir: string, change: StoreChange<T>): Promise<T> {
  const daemon = await connectToDaemon(stateDir)
  if (daemon) return change.ask(daemon)
  try {
    return makeHere(stateDir, change)
  } catch (error) {
    // A daemon may have started meanwhile.
    const late = error instanceof LockedError ? await connectToDaemon(stateDir) : undefined
    if (!late) throw error
    return change.ask(late)
  }
}

function makeHere<T>(stateDir: string, change: StoreChange<T>): T {
  using store = openStore(stateDir)
  return change.make(store)
}
