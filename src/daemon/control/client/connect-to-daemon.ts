import { findSocket } from '../socket-note.ts'
import type { DaemonClient } from './client.ts'

/** Whoever listens for clients of this state directory; undefined when nobody does, which costs next to nothing. */
export async function connectToDaemon(stateDir: string): Promise<DaemonClient | undefined> {
  const path = findSocket(stateDir)
  if (path === undefined) return undefined
  const { openClient } = await import('./client.ts')
  return openClient(path)
}
