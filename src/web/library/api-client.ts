import type {
  AccessContext,
  DirectoryPage,
  ResourceRecord,
  SearchResponse,
  UploadResponse,
  ViewUrl,
} from '../../contract/records.ts'
import { API_PREFIX, fillPath, ROUTES } from '../../contract/routes.ts'
import { Client, messageIn } from '../common/client.ts'

interface SearchInput {
  readonly query: string
  /** Undefined for all libraries that the token may read. */
  readonly library: string | undefined
  readonly limit: number
  readonly versions: 'current' | 'all'
}

interface FileToSend {
  readonly file: File
  readonly mimeType: string
  readonly directory: string
}

interface PictureInput {
  /** The frame at this moment, or five frames of the scene around it in one picture. */
  readonly representation: 'frame' | 'scene'
  readonly seconds: number
}

interface UploadOptions {
  readonly signal: AbortSignal
  /** Called with the share of the bytes that was sent, from 0 to 1. */
  onProgress(part: number): void
}

/** Sends the requests of the interface that the page needs. */
const NOT_JSON = 'Something else than the library has answered, perhaps a proxy. Try again later.'

export class ApiClient extends Client {
  protected readonly unreachable =
    'The library does not answer. Is its server still running? Nothing is lost; try again.'

  checkAccess(signal: AbortSignal): Promise<AccessContext> {
    return this.#json(ROUTES.checkAccess.path, { signal })
  }

  listDirectory(library: string, query: Record<string, string>, signal: AbortSignal): Promise<DirectoryPage> {
    const path = fillPath(ROUTES.listDirectory.path, { library })
    return this.#json(`${path}?${new URLSearchParams(query)}`, { signal })
  }

  /** Gets a resource, and the whole text of its assets from the position `fromAsset` on. */
  showResource(library: string, resource: string, fromAsset: number, signal: AbortSignal): Promise<ResourceRecord> {
    const path = fillPath(ROUTES.showResource.path, { library, resource })
    return this.#json(`${path}?assets_from=${fromAsset}&asset_text=whole`, { signal })
  }

  /** Only the embedded library answers this request. */
  async deleteResource(library: string, resource: string, signal: AbortSignal): Promise<void> {
    const path = fillPath(ROUTES.deleteResource.path, { library, resource })
    await this.send(API_PREFIX + path, { method: 'DELETE', signal })
  }

  search({ query, library, limit, versions }: SearchInput, signal: AbortSignal): Promise<SearchResponse> {
    const asked = new URLSearchParams({ query, limit: String(limit), versions })
    if (library !== undefined) asked.set('library_ids[]', library)
    return this.#json(`${ROUTES.searchResources.path}?${asked}`, { signal })
  }

  /** Uses XMLHttpRequest, because `fetch` does not report how much was sent. */
  upload(library: string, { file, mimeType, directory }: FileToSend, options: UploadOptions): Promise<UploadResponse> {
    const { signal, onProgress } = options
    const form = new FormData()
    form.set('path', directory)
    form.set('file', new File([file], file.name, { type: mimeType }))
    return new Promise((resolve, reject) => {
      const request = new XMLHttpRequest()
      const abort = () => request.abort()
      request.open('POST', API_PREFIX + fillPath(ROUTES.uploadFile.path, { library }))
      request.responseType = 'json'
      for (const [name, value] of Object.entries(this.headers)) request.setRequestHeader(name, value)
      request.upload.onprogress = ({ loaded, total }) => onProgress(total > 0 ? loaded / total : 0)
      request.onload = () => {
        const { status, response } = request
        if (status !== 200 && status !== 201) reject(this.refused(status, response))
        else if (response === null) reject(new Error(NOT_JSON))
        else resolve(response)
      }
      request.onerror = () => reject(new Error(this.unreachable))
      request.onabort = () => reject(signal.reason)
      request.onloadend = () => signal.removeEventListener('abort', abort)
      signal.addEventListener('abort', abort, { once: true })
      request.send(form)
    })
  }

  /** Returns an address on this server, signed by the library, that opens the original without the token for an hour. */
  viewOriginal(resource: string, disposition: 'inline' | 'attachment', signal: AbortSignal): Promise<string> {
    return this.#sign(fillPath(ROUTES.createResourceViewUrl.path, { resource }), { disposition }, signal)
  }

  /** Returns an address of the same kind for a picture of a video. */
  viewPicture(asset: string, { representation, seconds }: PictureInput, signal: AbortSignal): Promise<string> {
    const path = fillPath(ROUTES.createAssetViewUrl.path, { asset })
    return this.#sign(path, { representation, timestamp_seconds: seconds }, signal)
  }

  /** Returns at most `count` bytes of the original from `start` on; none beyond its end. */
  async readOriginal(resource: string, start: number, count: number, signal: AbortSignal): Promise<Uint8Array> {
    const path = API_PREFIX + fillPath(ROUTES.downloadResource.path, { resource })
    const response = await this.send(path, { headers: { range: `bytes=${start}-${start + count - 1}` }, signal }, 416)
    return response.ok ? new Uint8Array(await response.arrayBuffer()) : new Uint8Array()
  }

  async #sign(path: string, terms: object, signal: AbortSignal): Promise<string> {
    const body = JSON.stringify({ ...terms, ttl_minutes: 60 })
    const { url } = await this.#json<ViewUrl>(path, { method: 'POST', body, signal })
    const { pathname, search } = new URL(url)
    return pathname + search
  }

  /** Throws if the answer is not JSON, such as the page of a proxy. */
  async #json<T extends object>(path: string, init: RequestInit): Promise<T> {
    const response = await this.send(API_PREFIX + path, init)
    const body: unknown = await response.json().catch(() => undefined)
    if (typeof body === 'object' && body !== null) return body as T
    throw new Error(NOT_JSON)
  }

  /** Uses the message of the service in the body (interface section 7), if there is one. */
  protected explain(status: number, body: unknown): string {
    const said = (messageIn(body, 'detail') ?? messageIn(body, 'message'))?.replaceAll('credential', 'token')
    if (status === 401) return `${said ?? 'The token is not valid'}.`
    if (status === 403) return `This is not allowed: ${said ?? 'the token lacks a right'}.`
    if (status === 413) return `Too large: ${said ?? 'the library takes no file of this size'}.`
    if (status === 507) return `${said ?? 'The disk of the library is full'}.`
    if (status >= 500) return `${said ?? 'The library cannot answer now'}. Try again later.`
    return said === undefined ? `The library answered with ${status}.` : `${said}.`
  }
}
