import { findSocket } from '../socket-file.ts'
import type { DaemonClient } from './client.ts'

/** Undefined, at almost no cost, when no daemon listens. */
export async function connectToDaemon(stateDir: string): Promise<DaemonClient | undefined> {
  const path = findSocket(stateDir)
  if (path === undefined) return undefined
  const { openClient } = await import('./client.ts')
  return openClient(path)
}
