import type { DaemonClient } from '../daemon/control/client/client.ts'
import { connectToDaemon } from '../daemon/control/client/connect-to-daemon.ts'
import { LockedError } from '../foundation/errors.ts'
import { openStore, type Store } from '../store/open-store.ts'

/** Asks the daemon if one runs, else acts in this process. Throws LockedError when another process holds the store. */
export async function byDaemonOrHere<T>(
  stateDir: string,
  ask: (daemon: DaemonClient) => T | Promise<T>,
  act: () => T,
): Promise<T> {
  const daemon = await connectToDaemon(stateDir)
  if (daemon) return ask(daemon)
  try {
    return act()
  } catch (error) {
    // A daemon may have started meanwhile.
    const late = error instanceof LockedError ? await connectToDaemon(stateDir) : undefined
    if (!late) throw error
    return ask(late)
  }
}

interface StoreChange<T> {
  ask(daemon: DaemonClient): Promise<T>
  make(store: Store): T
}

/** Applies the change in the daemon if one runs, else in this process. Throws as `byDaemonOrHere` does. */
export async function changeStore<T>(stateDir: string, { ask, make }: StoreChange<T>): Promise<T> {
  return await byDaemonOrHere(stateDir, ask, () => {
    using store = openStore(stateDir)
    return make(store)
  })
}
