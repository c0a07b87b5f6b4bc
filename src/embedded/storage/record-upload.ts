import type { IngestionStatus } from '../../contract/states.ts'
import type { Tables } from '../database/open-tables.ts'
import type { IngestedColumns, ResourceRow } from '../database/resources-table.ts'
import { MAX_SHARING_BYTES } from '../database/small-contents-table.ts'
import type { ReceivedContent } from './content-receiver.ts'
import { slugName } from './slug.ts'

/** A text that was ingested before its upload was recorded, to be recorded together with it. */
export interface IngestedText {
  readonly columns: IngestedColumns
  /** Writes its passages. Call it in the transaction that inserts the resource. */
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
  /** Undefined: ingestion follows. */
  readonly ingested: IngestedText | undefined
}

export interface RecordedUpload {
  readonly id: string
  readonly duplicate: boolean
  readonly status: IngestionStatus
}

/** Writes an upload as the interface requires: one resource for the same bytes and MIME type, a location for each upload. */
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
  const { filename } = slugName(title, (name) => tables.locations.isUsed(directoryId, name))
  tables.locations.insert({ directoryId, filename, title, resourceId })
}
