import type {
  AccessContext,
  DirectoryPage,
  LibraryRecord,
  LibrarySummary,
  ResourceRecord,
  SearchResponse,
  UploadResponse,
  ViewUrl,
} from '../contract/records.ts'
import type { RouteName } from '../contract/routes.ts'

/** The bytes of an upload: a buffer, or a stream that throws instead of yielding its last chunk if the file changed. */
export type UploadBody = Uint8Array | AsyncIterable<Uint8Array>

/** Says when the end of an upload may leave; its last bytes are withheld until then. */
export interface Fence {
  isOpen(): boolean
  /** Throws ClosedFenceError if the fence stays closed. */
  waitUntilOpen(): Promise<void>
}

/** Thrown if the end of an upload must not leave any more; the service then has not stored the file. */
export class ClosedFenceError extends Error {
  constructor() {
    super('the end of the upload may not leave')
    this.name = 'ClosedFenceError'
  }
}

export interface UploadRequest {
  readonly libraryId: string
  readonly fileName: string
  readonly mime: string
  /** The exact length of what `openBody` returns; the transport computes the Content-Length from it. */
  readonly sizeBytes: number
  /** Canonical library path of the target directory; sent only if the instance has a field for it. */
  readonly directoryPath: string
  /**
   * Called once for each try; the client retries only if the service cannot have stored the file. `take` returns a buffer of exactly
   * this size, with any content, that the body or one of its chunks may be read into.
   */
  readonly openBody: (take: (sizeBytes: number) => Uint8Array) => UploadBody | Promise<UploadBody>
  readonly fence?: Fence | undefined
}

export interface SearchRequest {
  readonly query: string
  readonly libraryIds?: readonly string[]
  readonly strategy?: string
  readonly limit?: number
  readonly outputFormat?: string
  /** Only for services whose resources have the field `superseded_by`. */
  readonly versions?: 'current'
}

export interface Download {
  readonly sizeBytes: number | undefined
  readonly mime: string | undefined
  readonly fileName: string | undefined
  readonly body: AsyncIterable<Uint8Array>
}

export interface AssetView {
  readonly representation?: 'content' | 'scene' | 'frame'
  readonly timestampSeconds?: number
  readonly ttlMinutes?: number
  readonly disposition?: 'inline' | 'attachment'
}

export interface RawResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
}

/** Where a capability comes from, most trusted first. */
export type CapabilitySource = 'configuration' | 'openapi' | 'default'

/** What this instance expects where the interface leaves it open: the fields of new libraries, new directories and uploads. */
export interface Capabilities {
  readonly createDirectory: { readonly source: CapabilitySource } & (
    | { readonly kind: 'path'; readonly field: string }
    | { readonly kind: 'name-and-parent'; readonly nameField: string; readonly parentField: string }
  )
  readonly createLibrary: {
    readonly source: CapabilitySource
    readonly nameField: string
    readonly overviewField: string | undefined
  }
  /** The multipart field that names the directory of an upload; if undefined, uploads land in `.inbox`. */
  readonly uploadDirectoryField: { readonly source: CapabilitySource; readonly field: string | undefined }
  /** The version in the instance's own description, if it has one. */
  readonly describedVersion: string | undefined
  /** The requests that mirroring needs and that the instance's own description omits; null if it has none. */
  readonly undescribed: readonly RouteName[] | null
}

/**
 * The typed client. Every call honours `signal`, bounds its answer and its total time, follows no redirect and throws only classes of
 * foundation/errors: AccessError (401, 403, redirect, certificate), RequestError (404, 409, 413, 422 …), TemporaryError (unreachable,
 * throttled, 5xx or malformed after the allowed retries), InterruptedError, and DoubtError (uploads).
 */
export interface ServiceClient {
  readonly origin: string
  checkAccess(signal?: AbortSignal): Promise<AccessContext>
  listLibraries(signal?: AbortSignal): AsyncIterable<LibrarySummary>
  /** Not repeated if it may have reached the service: after a TemporaryError, search for the library before retrying. */
  createLibrary(name: string, overview: string | null, signal?: AbortSignal): Promise<LibraryRecord>
  showLibrary(libraryId: string, signal?: AbortSignal): Promise<LibraryRecord>
  deleteLibrary(libraryId: string, signal?: AbortSignal): Promise<void>
  /** Only the embedded library has this endpoint; throws RequestError('not-found') if the resource is gone already. */
  deleteResource(libraryId: string, resourceId: string, signal?: AbortSignal): Promise<void>
  /** Yields the pages of one directory; TemporaryError('answer-malformed') on a repeated cursor or `truncated` ≠ `next_cursor`. */
  listDirectory(libraryId: string, path: string, signal?: AbortSignal): AsyncIterable<DirectoryPage>
  /** Returns 'existing' for a 409 if the directory can be listed. */
  createDirectory(libraryId: string, path: string, signal?: AbortSignal): Promise<'created' | 'existing'>
  uploadFile(upload: UploadRequest, signal?: AbortSignal): Promise<UploadResponse>
  showResource(libraryId: string, resourceId: string, signal?: AbortSignal): Promise<ResourceRecord>
  /** Like `showResource`, for callers that poll: the client retries only if the service cannot have handled the request. */
  pollResource(libraryId: string, resourceId: string, signal?: AbortSignal): Promise<ResourceRecord>
  searchResources(search: SearchRequest, signal?: AbortSignal): Promise<SearchResponse>
  downloadResource(resourceId: string, signal?: AbortSignal): Promise<Download>
  createResourceViewUrl(
    resourceId: string,
    view: Pick<AssetView, 'ttlMinutes' | 'disposition'>,
    signal?: AbortSignal,
  ): Promise<ViewUrl>
  downloadAsset(assetId: string, signal?: AbortSignal): Promise<Download>
  downloadRepresentation(
    assetId: string,
    representation: 'scene' | 'frame',
    timestampSeconds: number,
    signal?: AbortSignal,
  ): Promise<Download>
  createAssetViewUrl(assetId: string, view: AssetView, signal?: AbortSignal): Promise<ViewUrl>
  /** Sends any request below `/api`, for endpoints whose shape the interface does not show; returns the answer unchanged. */
  callRaw(method: string, path: string, json: unknown, signal?: AbortSignal): Promise<RawResponse>
  /** Read on the first call, then kept. */
  capabilities(signal?: AbortSignal): Promise<Capabilities>
  /** Waits for requests in flight; later calls throw TemporaryError('connection-closed'). */
  close(): Promise<void>
  /** Does not wait: requests in flight throw TemporaryError('connection-closed'), or DoubtError for uploads that may have arrived. */
  destroy(): Promise<void>
}
