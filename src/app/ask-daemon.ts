import type { DaemonClient } from '../daemon/control/client/client.ts'
import { connectToDaemon } from '../daemon/control/client/connect-to-daemon.ts'
import { LockedError, messageOf } from '../foundation/errors.ts'
import { escapeText } from '../foundation/text/safe-text.ts'
import { openStore, type Store } from '../store/open-store.ts'

/** Calls `askDaemon` if a daemon runs, otherwise `actHere`. Throws LockedError if a process that is not a daemon holds the store. */
export async function byDaemonOrHere<T>(
  stateDir: string,
  askDaemon: (daemon: DaemonClient) => T | Promise<T>,
  actHere: () => T,
): Promise<T> {
  const daemon = await connectToDaemon(stateDir)
  if (daemon) return askDaemon(daemon)
  try {
    return actHere()
  } catch (error) {
    // A daemon may have started meanwhile.
    const startedMeanwhile = error instanceof LockedError ? await connectToDaemon(stateDir) : undefined
    if (!startedMeanwhile) throw error
    return askDaemon(startedMeanwhile)
  }
}

/** Has a running daemon change its store; if none runs, changes the store in this process. Throws as `byDaemonOrHere` does. */
export async function changeStore<T>(
  stateDir: string,
  change: { askDaemon(daemon: DaemonClient): Promise<T>; changeStore(store: Store): T },
): Promise<T> {
  return await byDaemonOrHere(stateDir, change.askDaemon, () => {
    using store = openStore(stateDir)
    return change.changeStore(store)
  })
}

/** Has a running daemon read the configuration again. Returns a sentence about the result; undefined if no daemon runs. */
export async function reloadDaemon(stateDir: string): Promise<string | undefined> {
  const daemon = await connectToDaemon(stateDir)
  if (!daemon) return undefined
  try {
    const { mirrors } = await daemon.reload()
    const names = mirrors.map(escapeText).join(', ') || 'nothing'
    return `The running daemon has read it and keeps ${names} up to date`
  } catch (error) {
    return `The running daemon cannot use it, so restart the daemon: ${escapeText(messageOf(error))}`
  }
}
