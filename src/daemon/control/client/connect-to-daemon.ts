import { findSocket } from '../socket-file.ts'
import type { DaemonClient } from './client.ts'

/** Returns a client of the daemon of this state directory; undefined, at almost no cost, when none listens. */
export async function connectToDaemon(stateDir: string): Promise<DaemonClient | undefined> {
  const path = findSocket(stateDir)
  if (path === undefined) return undefined
  const { openClient } = await import('./client.ts')
  return openClient(path)
}
