/**
 * Sends the requests of a page to its own server. The token goes only into a header. Answers are not checked, because the page
 * comes from the same server. The messages of errors are for users.
 */
export abstract class Client {
  readonly #token: string
  readonly #onTokenLost: (message: string) => void

  /** `onTokenLost` is called with the server's reason when the server refuses the token. */
  constructor(token = '', onTokenLost: (message: string) => void = () => {}) {
    this.#token = token
    this.#onTokenLost = onTokenLost
  }

  /** The message when the server does not answer. */
  protected abstract readonly unreachable: string

  /** Returns the message for an answer other than success; `body` is undefined if the answer is not JSON. */
  protected abstract explain(status: number, body: unknown): string

  protected get headers(): Record<string, string> {
    return this.#token === '' ? {} : { authorization: `Bearer ${this.#token}` }
  }

  /** Throws unless the server answers with success or with the status `expected`. */
  protected async send(path: string, init: RequestInit, expected?: number): Promise<Response> {
    const headers = { ...(init.body && { 'content-type': 'application/json' }), ...init.headers, ...this.headers }
    let response: Response
    try {
      response = await fetch(path, { ...init, headers, redirect: 'error', cache: 'no-store' })
    } catch (error) {
      if (init.signal?.aborted) throw error
      throw new Error(this.unreachable)
    }
    if (response.ok || response.status === expected) return response
    throw this.refused(response.status, await response.json().catch(() => undefined))
  }

  protected refused(status: number, body: unknown): Error {
    const message = this.explain(status, body)
    if (status === 401) this.#onTokenLost(message)
    return new Error(message)
  }
}

/** Returns the text in a field of a body without its full stop; undefined if the field holds no text. */
export function messageIn(body: unknown, field: string): string | undefined {
  const said = typeof body === 'object' && body !== null ? (body as Record<string, unknown>)[field] : undefined
  return typeof said === 'string' ? said.replace(/\.$/, '') : undefined
}

export function describeError(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown)
}
