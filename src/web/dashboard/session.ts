import { useEffect, useState } from 'preact/hooks'
import type { CallInput, CallName, CallResponse, LiveEvent, Overview } from '../../contract/dashboard.ts'
import { CALLS_PATH, LIVE_PATH } from '../../contract/dashboard-addresses.ts'
import { Client, describeError, messageIn } from '../common/client.ts'
import { createSession } from '../common/session.ts'

export class DashboardClient extends Client {
  protected readonly unreachable = 'shelfd does not answer: it was stopped or is starting again. The page keeps trying.'

  async call<K extends CallName>(name: K, input: CallInput<K>, signal?: AbortSignal): Promise<CallResponse<K>> {
    const init = { method: 'POST', body: JSON.stringify(input), ...(signal && { signal }) }
    return await (await this.send(`${CALLS_PATH}/${name}`, init)).json()
  }

  /** Yields the events of the live stream; throws when it ends. */
  async *live(signal: AbortSignal): AsyncGenerator<LiveEvent> {
    const { body } = await this.send(LIVE_PATH, { signal })
    const reader = body?.pipeThrough(new TextDecoderStream()).getReader()
    let text = ''
    for (let part = await reader?.read(); part && !part.done; part = await reader?.read()) {
      const events = (text + part.value).split('\n\n')
      text = events.pop() ?? ''
      for (const event of events) yield JSON.parse(event.replace(/^data: /, ''))
    }
    throw new Error(this.unreachable)
  }

  /** Opens the original of a resource in another tab, which cannot reach this page. */
  async openDocument(resourceId: string): Promise<void> {
    const { url } = await this.call('openDocument', { resourceId })
    // Any other address, such as one of javascript:, would run on this page.
    if (!/^https?:/.test(url)) throw new Error('The document has no address that can be opened')
    window.open(url, '_blank', 'noopener,noreferrer')
  }

  protected explain(status: number, body: unknown): string {
    const { error } = (body ?? {}) as { error?: unknown }
    return `${messageIn(error, 'message') ?? `shelfd answered with ${status}`}.`
  }
}

interface Live {
  /** Undefined before the first event; unchanged while the server does not answer. */
  readonly overview: Overview | undefined
  /** The number of the log's last line; null when no daemon serves the dashboard. */
  readonly logNumber: number | null
  /** Why the overview is out of date; empty while it is current. */
  readonly trouble: string
}

interface Session {
  readonly client: DashboardClient
  readonly live: Live
}

export const { SessionContext, useSession } = createSession<Session>()

const RETRY_MS = 2_000

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
