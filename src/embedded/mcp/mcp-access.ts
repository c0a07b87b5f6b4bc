import type {
  DirectoryPage,
  LibrarySummary,
  ResourceRecord,
  SearchAnswer,
  UploadAnswer,
} from '../../contract/records.ts'

export interface AgentSearch {
  readonly query: string
  readonly libraryIds: readonly string[]
  readonly limit: number
}

export interface AgentUpload {
  readonly libraryId: string
  /** Library path of an existing directory. */
  readonly directoryPath: string
  readonly fileName: string
  readonly mime: string
  readonly bytes: Uint8Array
}

export interface DocumentText {
  readonly text: string
  /** Why the text may not be whole. */
  readonly notice?: string | undefined
}

/** What the tools for agents work with: a service, with the rights of one credential. Every call may throw. */
export interface AgentAccess {
  listLibraries(signal: AbortSignal): AsyncIterable<LibrarySummary>
  searchResources(search: AgentSearch, signal: AbortSignal): Promise<SearchAnswer>
  /** Pages of one directory. */
  listDirectory(libraryId: string, path: string, signal: AbortSignal): AsyncIterable<DirectoryPage>
  showResource(libraryId: string, resourceId: string, signal: AbortSignal): Promise<ResourceRecord>
  /** The text of a resource, at most `maxLength` characters. */
  readText(resource: ResourceRecord, maxLength: number, signal: AbortSignal): Promise<DocumentText>
  uploadFile(upload: AgentUpload, signal: AbortSignal): Promise<UploadAnswer>
}
