import { useEffect, useState } from 'preact/hooks'
import type { Overview } from '../../contract/dashboard.ts'
import { describeError } from '../common/failure.ts'
import type { DashboardClient } from './dashboard-client.ts'

const RETRY_MS = 2_000

export interface Live {
  /** Undefined before the first event; it stays what it was while the server does not answer. */
  readonly overview: Overview | undefined
  /** The number of the log's last line; null when no daemon serves the dashboard. */
  readonly logNumber: number | null
  /** The reason why there is nothing newer; empty while there is. */
  readonly trouble: string
}

export function useLive(client: DashboardClient): Live {
  const [live, setLive] = useState<Live>({ overview: undefined, logNumber: null, trouble: '' })
  useEffect(() => {
    const ended = new AbortController()
    void follow(client, ended.signal, setLive)
    return () => ended.abort()
  }, [client])
  return live
}

async function follow(client: DashboardClient, signal: AbortSignal, set: (change: (live: Live) => Live) => void) {
  while (!signal.aborted) {
    try {
      for await (const event of client.live(signal)) {
        if (event.kind === 'failure') set((live) => ({ ...live, trouble: event.message }))
        else set(() => ({ overview: event.overview, logNumber: event.logNumber, trouble: '' }))
      }
    } catch (error) {
      if (signal.aborted) return
      set((live) => ({ ...live, trouble: describeError(error) }))
    }
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS))
  }
}
