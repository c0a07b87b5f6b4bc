import { findSocket } from '../socket-file.ts'
import type { DaemonClient } from './client.ts'

/** Returns undefined if no daemon listens. Without the socket file this costs almost nothing, because the client is not loaded. */
export async function connectToDaemon(stateDir: string): Promise<DaemonClient | undefined> {
  const path = findSocket(stateDir)
  if (path === undefined) return undefined
  const { openClient } = await import('./client.ts')
  return openClient(path)
}
