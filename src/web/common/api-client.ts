import type {
  AccessContext,
  DirectoryPage,
  ResourceRecord,
  SearchResponse,
  UploadResponse,
  ViewUrl,
} from '../../contract/records.ts'
import { API_PREFIX, fillPath, ROUTES } from '../../contract/routes.ts'
import { ApiFailure, failureOf, unreachable } from './failure.ts'

interface SearchFor {
  readonly query: string
  /** Undefined searches all libraries that may be read. */
  readonly library: string | undefined
  readonly limit: number
  readonly versions: 'current' | 'all'
}

interface FileToSend {
  readonly file: File
  readonly mimeType: string
  readonly directory: string
}

interface Moment {
  /** One picture, or the five of the scene around it. */
  readonly representation: 'frame' | 'scene'
  readonly seconds: number
}

/**
 * The requests of the interface that pages make to their own server. The token goes only into a header. Answers are taken as the
 * shapes that the same server builds them from; what is not JSON, such as the page of a proxy, is refused.
 */
export class ApiClient {
  readonly #token: string
  readonly #onCredentialLost: (message: string) => void

  /** `onCredentialLost` receives the reason why the service refuses the token now. */
  constructor(token: string, onCredentialLost: (message: string) => void = () => {}) {
    this.#token = token
    this.#onCredentialLost = onCredentialLost
  }

  checkAccess(signal: AbortSignal): Promise<AccessContext> {
    return this.#json(ROUTES.checkAccess.path, { signal })
  }

  listDirectory(library: string, query: Record<string, string>, signal: AbortSignal): Promise<DirectoryPage> {
    const path = fillPath(ROUTES.listDirectory.path, { library })
    return this.#json(`${path}?${new URLSearchParams(query)}`, { signal })
  }

  /** With the whole text of the assets from this position on. */
  showResource(library: string, resource: string, fromAsset: number, signal: AbortSignal): Promise<ResourceRecord> {
    const path = fillPath(ROUTES.showResource.path, { library, resource })
    return this.#json(`${path}?assets_from=${fromAsset}&asset_text=whole`, { signal })
  }

  /** Only the embedded library has it. */
  async deleteResource(library: string, resource: string, signal: AbortSignal): Promise<void> {
    const path = fillPath(ROUTES.deleteResource.path, { library, resource })
    const response = await this.#send(path, { method: 'DELETE', signal })
    if (!response.ok) throw this.#noted(failureOf(response.status, await readJson(response)))
  }

  search({ query, library, limit, versions }: SearchFor, signal: AbortSignal): Promise<SearchResponse> {
    const asked = new URLSearchParams({ query, limit: String(limit), versions })
    if (library !== undefined) asked.set('library_ids[]', library)
    return this.#json(`${ROUTES.searchResources.path}?${asked}`, { signal })
  }

  async upload(
    library: string,
    { file, mimeType, directory }: FileToSend,
    following: Following,
  ): Promise<UploadResponse> {
    const form = new FormData()
    form.set('path', directory)
    form.set('file', new File([file], file.name, { type: mimeType }))
    const url = API_PREFIX + fillPath(ROUTES.uploadFile.path, { library })
    const { status, body } = await sendForm(url, this.#headers(), form, following)
    if (status !== 200 && status !== 201) throw this.#noted(failureOf(status, body))
    return body as UploadResponse
  }

  /**
   * An address on this server under which a browser shows or downloads the original without the token, for an hour. Its path and
   * query stay as they were signed.
   */
  async viewOriginal(resource: string, disposition: 'inline' | 'attachment', signal: AbortSignal): Promise<string> {
    return await this.#sign(fillPath(ROUTES.createResourceViewUrl.path, { resource }), { disposition }, signal)
  }

  /** The same for a picture of a video. */
  async viewPicture(asset: string, { representation, seconds }: Moment, signal: AbortSignal): Promise<string> {
    const path = fillPath(ROUTES.createAssetViewUrl.path, { asset })
    return await this.#sign(path, { representation, timestamp_seconds: seconds }, signal)
  }

  /** The bytes from `start` on, at most `count`. */
  async readOriginal(resource: string, start: number, count: number, signal: AbortSignal): Promise<Uint8Array> {
    const headers = { range: `bytes=${start}-${start + count - 1}` }
    const response = await this.#send(fillPath(ROUTES.downloadResource.path, { resource }), { headers, signal })
    if (response.status === 416) return new Uint8Array()
    if (!response.ok) throw this.#noted(failureOf(response.status, await readJson(response)))
    return new Uint8Array(await response.arrayBuffer())
  }

  async #sign(path: string, terms: object, signal: AbortSignal): Promise<string> {
    const body = JSON.stringify({ ...terms, ttl_minutes: 60 })
    const headers = { 'content-type': 'application/json' }
    const { url } = await this.#json<ViewUrl>(path, { method: 'POST', body, headers, signal })
    const { pathname, search } = new URL(url)
    return pathname + search
  }

  async #json<T>(path: string, init: RequestInit): Promise<T> {
    const response = await this.#send(path, init)
    const body = await readJson(response)
    if (!response.ok) throw this.#noted(failureOf(response.status, body))
    if (typeof body !== 'object' || body === null) throw new ApiFailure('unreachable', NO_LIBRARY)
    return body as T
  }

  async #send(path: string, init: RequestInit): Promise<Response> {
    const headers = { ...init.headers, ...this.#headers() }
    try {
      return await fetch(API_PREFIX + path, { ...init, headers, redirect: 'error', cache: 'no-store' })
    } catch (error) {
      if (init.signal?.aborted) throw error
      throw unreachable()
    }
  }

  #headers(): Record<string, string> {
    return { authorization: `Bearer ${this.#token}` }
  }

  #noted(failure: ApiFailure): ApiFailure {
    if (failure.kind === 'credential') this.#onCredentialLost(failure.message)
    return failure
  }
}

const NO_LIBRARY = 'Something else than the library has answered, perhaps a proxy. Try again later.'

/** Undefined for a body that is not JSON. */
async function readJson(response: Response): Promise<unknown> {
  try {
    return await response.json()
  } catch {
    return undefined
  }
}

interface Following {
  readonly signal: AbortSignal
  /** The part of the bytes that has left, from 0 to 1. */
  onProgress(part: number): void
}

/** Posts a form. By XMLHttpRequest, since `fetch` does not report how much has left. Throws when it is aborted or no answer comes. */
function sendForm(url: string, headers: Record<string, string>, form: FormData, following: Following) {
  const { signal, onProgress } = following
  return new Promise<{ status: number; body: unknown }>((resolve, reject) => {
    const request = new XMLHttpRequest()
    const abort = () => request.abort()
    request.open('POST', url)
    request.responseType = 'json'
    for (const [name, value] of Object.entries(headers)) request.setRequestHeader(name, value)
    request.upload.onprogress = ({ loaded, total }) => onProgress(total > 0 ? loaded / total : 0)
    request.onload = () => resolve({ status: request.status, body: request.response })
    request.onerror = () => reject(unreachable())
    request.onabort = () => reject(signal.reason)
    request.onloadend = () => signal.removeEventListener('abort', abort)
    signal.addEventListener('abort', abort, { once: true })
    request.send(form)
  })
}
