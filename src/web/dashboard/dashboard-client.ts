import type { CallInput, CallName, CallResponse, LiveEvent } from '../../contract/dashboard.ts'
import { CALLS_PATH, LIVE_PATH } from '../../contract/dashboard-addresses.ts'
import { ApiFailure } from '../common/failure.ts'

/** The page's client of its own server. The token goes only into a header. */
export class DashboardClient {
  readonly #token: string
  readonly #onSessionLost: (message: string) => void

  /** `onSessionLost` receives the reason why the server refuses the token now. */
  constructor(token = '', onSessionLost: (message: string) => void = () => {}) {
    this.#token = token
    this.#onSessionLost = onSessionLost
  }

  async call<K extends CallName>(name: K, input: CallInput<K>, signal?: AbortSignal): Promise<CallResponse<K>> {
    const headers = { 'content-type': 'application/json' }
    const init = { method: 'POST', body: JSON.stringify(input), headers }
    const response = await this.#send(`${CALLS_PATH}/${name}`, { ...init, ...(signal && { signal }) })
    return await response.json()
  }

  /** Yields the events of the live stream; throws when it ends. */
  async *live(signal: AbortSignal): AsyncGenerator<LiveEvent> {
    const { body } = await this.#send(LIVE_PATH, { signal })
    const reader = body?.pipeThrough(new TextDecoderStream()).getReader()
    let text = ''
    for (let part = await reader?.read(); part && !part.done; part = await reader?.read()) {
      const events = (text + part.value).split('\n\n')
      text = events.pop() ?? ''
      for (const event of events) yield JSON.parse(event.replace(/^data: /, ''))
    }
    throw unreachable()
  }

  async #send(path: string, init: RequestInit): Promise<Response> {
    const headers = { ...init.headers, ...(this.#token && { authorization: `Bearer ${this.#token}` }) }
    let response: Response
    try {
      response = await fetch(path, { ...init, headers, redirect: 'error', cache: 'no-store' })
    } catch (error) {
      if (init.signal?.aborted) throw error
      throw unreachable()
    }
    if (response.ok) return response
    const message = await messageOf(response)
    if (response.status !== 401) throw new ApiFailure('refused', `${message}.`)
    this.#onSessionLost(`${message}.`)
    throw new ApiFailure('credential', `${message}.`)
  }
}

const unreachable = () =>
  new ApiFailure('unreachable', 'shelfd does not answer: it was stopped or is starting again. The page keeps trying.')

async function messageOf(response: Response): Promise<string> {
  const body: unknown = await response.json().catch(() => undefined)
  const error = typeof body === 'object' && body !== null && 'error' in body ? body.error : undefined
  const message = typeof error === 'object' && error !== null && 'message' in error ? error.message : undefined
  return typeof message === 'string' ? message.replace(/\.$/, '') : `shelfd answered with ${response.status}`
}
