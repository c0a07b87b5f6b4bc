import type {
  AccessContext,
  DirectoryPage,
  LibraryRecord,
  LibrarySummary,
  ResourceRecord,
  SearchAnswer,
  UploadAnswer,
  ViewUrl,
} from '../contract/records.ts'

/** The bytes of an upload: all of them at once, or a stream that throws instead of giving its last chunk when they changed. */
export type UploadBody = Uint8Array | AsyncIterable<Uint8Array>

export interface UploadRequest {
  readonly libraryId: string
  readonly fileName: string
  readonly mime: string
  /** Exactly what `openBody` gives; the request's Content-Length is computed from it. */
  readonly sizeBytes: number
  /** Canonical library path to land in; sent only when the contract has a field for it. */
  readonly directoryPath: string
  /** Called once for each try; the client tries again only when no byte can have been stored. */
  readonly openBody: () => UploadBody | Promise<UploadBody>
}

export interface SearchRequest {
  readonly query: string
  readonly libraryIds?: readonly string[]
  readonly strategy?: string
  readonly limit?: number
  readonly outputFormat?: string
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

export interface RawAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
}

/** Where a fact that the interface does not show was taken from, most trusted first. */
export type CapabilitySource = 'configuration' | 'openapi' | 'default'

/** How this instance wants what the interface leaves open (4.7, 4.11, 4.12). */
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
  /** The multipart field that names the directory an upload lands in; undefined: it lands in `.inbox`. */
  readonly uploadDirectoryField: { readonly source: CapabilitySource; readonly field: string | undefined }
  /** The version the instance's own description gives, if it has one. */
  readonly describedVersion: string | undefined
}

/**
 * The typed client. Every call honours `signal`, bounds its answer and its total time, follows no redirect and throws
 * only the classes of foundation/errors: RefusedError (401, 403, redirect, certificate), RejectedError (404, 409, 413,
 * 422 …), TemporaryError (unreachable, throttled, 5xx or malformed after the allowed retries), DoubtError (uploads only).
 */
export interface ServiceClient {
  readonly origin: string
  checkAccess(signal?: AbortSignal): Promise<AccessContext>
  listLibraries(signal?: AbortSignal): AsyncIterable<LibrarySummary>
  /** Not repeated after it may have reached the service: a TemporaryError then means "look before trying again". */
  createLibrary(name: string, overview: string | null, signal?: AbortSignal): Promise<LibraryRecord>
  showLibrary(libraryId: string, signal?: AbortSignal): Promise<LibraryRecord>
  deleteLibrary(libraryId: string, signal?: AbortSignal): Promise<void>
  /** Pages of one directory; throws TemporaryError('answer-malformed') on a repeated cursor or `truncated` ≠ `next_cursor`. */
  listDirectory(libraryId: string, path: string, signal?: AbortSignal): AsyncIterable<DirectoryPage>
  /** 201, or 409 and a listing that shows it. */
  createDirectory(libraryId: string, path: string, signal?: AbortSignal): Promise<'created' | 'existing'>
  uploadFile(upload: UploadRequest, signal?: AbortSignal): Promise<UploadAnswer>
  showResource(libraryId: string, resourceId: string, signal?: AbortSignal): Promise<ResourceRecord>
  /** The same for whoever asks again anyway: only what did not reach the service is tried again here. */
  pollResource(libraryId: string, resourceId: string, signal?: AbortSignal): Promise<ResourceRecord>
  searchResources(search: SearchRequest, signal?: AbortSignal): Promise<SearchAnswer>
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
  /** Any request below `/api`, for endpoints whose shape is not shown; the answer is given as it is. */
  callRaw(method: string, path: string, json: unknown, signal?: AbortSignal): Promise<RawAnswer>
  /** Read once, lazily, and kept. */
  capabilities(signal?: AbortSignal): Promise<Capabilities>
  /** Waits for requests under way; later ones throw InterruptedError. */
  close(): Promise<void>
  /** Doesn't wait: requests under way throw InterruptedError, uploads that may have arrived DoubtError. */
  destroy(): Promise<void>
}
