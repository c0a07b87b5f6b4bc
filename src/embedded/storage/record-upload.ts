import type { IngestionStatus } from '../../contract/states.ts'
import type { Tables } from '../database/open-tables.ts'
import type { IngestedColumns, ResourceRow } from '../database/resources-table.ts'
import { MAX_SHARING_BYTES } from '../database/small-contents-table.ts'
import type { ReceivedContent } from './content-receiver.ts'
import { uniqueFilename } from './slug.ts'

/** The result of an ingestion that ran before the upload was recorded; `recordUpload` records both. */
export interface IngestedText {
  readonly columns: IngestedColumns
  /** Writes the passages of the text. Call it in the transaction that inserts the resource. */
  writePassages(resource: Pick<ResourceRow, 'id' | 'libraryId'>): void
}

export interface UploadRecord {
  readonly publicId: string
  readonly libraryId: number
  readonly directoryId: number
  readonly title: string
  readonly mimeType: string
  readonly charset?: string | null | undefined
  readonly content: ReceivedContent
  readonly createdAtMs: number
  /** Undefined if ingestion follows later. */
  readonly ingested: IngestedText | undefined
}

export interface RecordedUpload {
  readonly id: string
  readonly duplicate: boolean
  readonly status: IngestionStatus
}

/** Records an upload as the interface requires: one resource for the same bytes and MIME type, one location for each upload. */
export function recordUpload(tables: Tables, upload: UploadRecord): RecordedUpload {
  const existing = tables.resources.byContent(upload.content.sha256, upload.libraryId, upload.mimeType)
  if (existing) {
    insertLocation(tables, upload, existing.id)
    return { id: existing.publicId, duplicate: true, status: existing.status }
  }
  const { publicId, libraryId, mimeType, charset, title, createdAtMs, content, ingested } = upload
  const { sha256, sizeBytes } = content
  const resource = { publicId, libraryId, sha256, mimeType, sizeBytes, title, createdAtMs }
  const sharesBlock = content.kind === 'small' && sizeBytes <= MAX_SHARING_BYTES
  const block = sharesBlock ? tables.contentBlocks.add(libraryId, content.bytes) : undefined
  const id = tables.resources.insert(resource, { charset, ingested: ingested?.columns, block })
  if (content.kind === 'small' && !block) tables.smallContents.insert(id, content.bytes)
  ingested?.writePassages({ id, libraryId })
  insertLocation(tables, upload, id)
  return { id: publicId, duplicate: false, status: ingested?.columns.status ?? 'not_started' }
}

function insertLocation(tables: Tables, { directoryId, title }: UploadRecord, resourceId: number): void {
  const filename = uniqueFilename(title, (name) => tables.locations.isUsed(directoryId, name))
  tables.locations.insert({ directoryId, filename, title, resourceId })
}
