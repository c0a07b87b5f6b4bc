import type { DirectoryPage, LibrarySummary, ResourceRecord, UploadResponse } from '../../contract/records.ts'

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

export interface McpSearch {
  readonly query: string
  readonly libraryIds: readonly string[]
  readonly limit: number
  /** Also earlier versions, and documents without a file. */
  readonly allVersions: boolean
}

/** A hit with its facts; null: unknown. */
export interface FoundDocument {
  readonly resource: ResourceRecord
  readonly type: string | null
  readonly size: number | null
  /** When its file was last changed; without a file here, when it was added (ISO 8601). */
  readonly date: string | null
  readonly version: string
  /** Where its file is on this computer today. */
  readonly localPath: string | null
  /** Where its last file was; of a moved one, from where it was sent. */
  readonly formerPath: string | null
  readonly earlierVersions: number
}

export interface FoundDocuments {
  readonly notice: string
  readonly documents: readonly FoundDocument[]
}

/** The access of MCP tools to a service, with the rights of one credential. Every call may throw. */
export interface McpAccess {
  listLibraries(signal: AbortSignal): AsyncIterable<LibrarySummary>
  search(search: McpSearch, signal: AbortSignal): Promise<FoundDocuments>
  /** Whether the credential may add documents to some library. */
  mayUpload(signal: AbortSignal): Promise<boolean>
  /** Pages of one directory. */
  listDirectory(libraryId: string, path: string, signal: AbortSignal): AsyncIterable<DirectoryPage>
  showResource(libraryId: string, resourceId: string, signal: AbortSignal): Promise<ResourceRecord>
  /** The text of a resource, at most `maxLength` characters. */
  readText(resource: ResourceRecord, maxLength: number, signal: AbortSignal): Promise<DocumentText>
  uploadFile(upload: McpUpload, signal: AbortSignal): Promise<UploadResponse>
}
