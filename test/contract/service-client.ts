/** A service under test: any implementation, reached by plain HTTP. */
export interface ServiceUnderTest {
  readonly url: string
  /** With every right. */
  readonly token: string
  /** Resolves when all processing is over. */
  settled(): Promise<void>
  /** Used in place of the global fetch. */
  readonly fetch?: (url: string, init: RequestInit) => Promise<Response>
}

export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  // The suite checks what is in it.
  readonly json: Record<string, unknown>
}

export interface SentFile {
  readonly name: string
  readonly type?: string
  readonly content: string | Uint8Array<ArrayBuffer>
  readonly path?: string
  readonly fieldsLast?: boolean
}

/** Requests of the suite, nothing but fetch. */
export class ServiceClient {
  readonly #service: ServiceUnderTest
  readonly #authorization: string

  constructor(service: ServiceUnderTest, authorization = `Bearer ${service.token}`) {
    this.#service = service
    this.#authorization = authorization
  }

  /** `path` below `/api/v1`. */
  async call(method: string, path: string, body?: unknown): Promise<Answer> {
    const json =
      body === undefined ? {} : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }
    return await this.send(path, { method, ...json })
  }

  get(path: string): Promise<Answer> {
    return this.call('GET', path)
  }

  async send(path: string, init: RequestInit): Promise<Answer> {
    return await readResponse(await this.fetch(path, init))
  }

  async fetch(path: string, init: RequestInit): Promise<Response> {
    const headers = new Headers(init.headers)
    if (this.#authorization) headers.set('authorization', this.#authorization)
    const ask = this.#service.fetch ?? fetch
    return await ask(`${this.#service.url}/api/v1${path}`, { ...init, headers })
  }

  async createLibrary(): Promise<string> {
    const { json } = await this.call('POST', '/libraries', { name: `Library ${crypto.randomUUID()}`, overview: null })
    return String(json.id)
  }

  async upload(library: string, file: SentFile): Promise<Answer> {
    const form = new FormData()
    if (file.path !== undefined && !file.fieldsLast) form.set('path', file.path)
    form.set('file', new File([file.content], file.name, { type: file.type ?? 'text/plain' }))
    if (file.path !== undefined && file.fieldsLast) form.set('path', file.path)
    return await this.send(`/libraries/${library}/files`, { method: 'POST', body: form })
  }

  /** Uploads a file and returns its identifier. */
  async uploaded(library: string, file: SentFile): Promise<string> {
    const { status, json } = await this.upload(library, file)
    if (status !== 200 && status !== 201) throw new Error(`The upload was answered with ${status}`)
    return String(json.id)
  }

  /** The resource once its processing is over. */
  async processed(library: string, resource: string): Promise<Record<string, unknown>> {
    await this.#service.settled()
    return (await this.get(`/libraries/${library}/resources/${resource}`)).json
  }

  listing(library: string, query: Readonly<Record<string, string>> = {}): Promise<Answer> {
    return this.get(`/libraries/${library}/directory?${new URLSearchParams(query)}`)
  }
}

export async function readResponse(response: Response): Promise<Answer> {
  const text = await response.text()
  const isJson = response.headers.get('content-type')?.includes('json') ?? false
  return {
    status: response.status,
    headers: response.headers,
    text,
    json: isJson && text !== '' ? JSON.parse(text) : {},
  }
}

/** The values of one field of a list of records. */
export function pluck(list: unknown, field: string): unknown[] {
  return Array.isArray(list) ? list.map((item) => item[field]) : []
}
