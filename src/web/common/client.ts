/**
 * The requests that a page makes to its own server. The token goes only into a header. Answers are taken as the shapes that the same
 * server builds them from. The messages of errors are for people.
 */
export abstract class Client {
  readonly #token: string
  readonly #onTokenLost: (message: string) => void

  /** `onTokenLost` receives the reason why the server refuses the token now. */
  constructor(token = '', onTokenLost: (message: string) => void = () => {}) {
    this.#token = token
    this.#onTokenLost = onTokenLost
  }

  /** What is said when no answer comes. */
  protected abstract readonly unreachable: string

  /** Explains an answer other than success; `body` is undefined if it is no JSON. */
  protected abstract explain(status: number, body: unknown): string

  protected get headers(): Record<string, string> {
    return this.#token === '' ? {} : { authorization: `Bearer ${this.#token}` }
  }

  /** Throws for an answer other than success and the status `expected`. */
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

/** The text in a field of a body, without its full stop. */
export function messageIn(body: unknown, field: string): string | undefined {
  const said = typeof body === 'object' && body !== null ? (body as Record<string, unknown>)[field] : undefined
  return typeof said === 'string' ? said.replace(/\.$/, '') : undefined
}

export function describeError(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown)
}
