import type {
  DirectoryPage,
  LibrarySummary,
  ResourceRecord,
  SearchResponse,
  UploadResponse,
} from '../../contract/records.ts'

export interface McpUpload {
  readonly libraryId: string
  /** Library path of an existing directory. */
  readonly directoryPath: string
  readonly fileName: string
  readonly mime: string
  readonly bytes: Uint8Array
}

export interface DocumentText {
  readonly text: string
  /** The reason why the text may not be whole. */
  readonly notice?: string | undefined
}

/** The access of MCP tools to a service, with the rights of one credential. Every call may throw. */
export interface McpAccess {
  listLibraries(signal: AbortSignal): AsyncIterable<LibrarySummary>
  searchResources(
    search: { readonly query: string; readonly libraryIds: readonly string[]; readonly limit: number },
    signal: AbortSignal,
  ): Promise<SearchResponse>
  /** Pages of one directory. */
  listDirectory(libraryId: string, path: string, signal: AbortSignal): AsyncIterable<DirectoryPage>
  showResource(libraryId: string, resourceId: string, signal: AbortSignal): Promise<ResourceRecord>
  /** The text of a resource, at most `maxLength` characters. */
  readText(resource: ResourceRecord, maxLength: number, signal: AbortSignal): Promise<DocumentText>
  uploadFile(upload: McpUpload, signal: AbortSignal): Promise<UploadResponse>
}
