import type { DirectoryPage, LibrarySummary, ResourceRecord, UploadResponse } from '../../contract/records.ts'

/** Bounds one message, and so an uploaded document, which is in one message, in base64 if it is not text. */
export const MAX_MESSAGE_BYTES = 32 * 2 ** 20

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
  /** Why the text may be incomplete; undefined if it is complete. */
  readonly notice?: string | undefined
}

export interface McpSearch {
  readonly query: string
  readonly libraryIds: readonly string[]
  readonly limit: number
  /** Whether to find earlier versions and documents without a file as well. */
  readonly allVersions: boolean
}

/** A hit with facts about its document; null means unknown. */
export interface FoundDocument {
  readonly resource: ResourceRecord
  readonly type: string | null
  readonly size: number | null
  /** When its file was last changed or, without a file on this computer, when the resource was added (ISO 8601). */
  readonly date: string | null
  readonly version: string
  /** The path of its file on this computer now. */
  readonly localPath: string | null
  /** The path of its last file, or from which a moved file was uploaded. */
  readonly formerPath: string | null
  readonly earlierVersions: number
}

export interface FoundDocuments {
  readonly notice: string
  readonly documents: readonly FoundDocument[]
}

/** The calls by which MCP tools use a service, with the rights of one credential. Each of them may throw. */
export interface McpAccess {
  listLibraries(signal: AbortSignal): AsyncIterable<LibrarySummary>
  search(search: McpSearch, signal: AbortSignal): Promise<FoundDocuments>
  /** Returns whether the credential may add documents to any library. */
  mayUpload(signal: AbortSignal): Promise<boolean>
  /** Yields the pages of one directory. */
  listDirectory(libraryId: string, path: string, signal: AbortSignal): AsyncIterable<DirectoryPage>
  showResource(libraryId: string, resourceId: string, signal: AbortSignal): Promise<ResourceRecord>
  /** Returns the first `maxLength` characters of a resource's text. */
  readText(resource: ResourceRecord, maxLength: number, signal: AbortSignal): Promise<DocumentText>
  uploadFile(upload: McpUpload, signal: AbortSignal): Promise<UploadResponse>
}
