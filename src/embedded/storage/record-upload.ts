import type { Tables } from '../database/open-tables.ts'
import type { ReceivedContent } from './content-receiver.ts'
import { slugName } from './slug.ts'

export interface UploadRecord {
  readonly publicId: string
  readonly libraryId: number
  readonly directoryId: number
  readonly title: string
  readonly mimeType: string
  readonly content: ReceivedContent
  readonly createdAtMs: number
}

export interface RecordedUpload {
  readonly id: string
  readonly duplicate: boolean
}

/** Writes an upload by the rules of 4.12: one resource for the same bytes and MIME type, a location for each upload. */
export function recordUpload(tables: Tables, upload: UploadRecord): RecordedUpload {
  const existing = tables.resources.byContent(upload.content.sha256, upload.libraryId, upload.mimeType)
  if (existing) {
    insertLocation(tables, upload, existing.id)
    return { id: existing.publicId, duplicate: true }
  }
  const { publicId, libraryId, mimeType, title, createdAtMs, content } = upload
  const { sha256, sizeBytes } = content
  const id = tables.resources.insert({ publicId, libraryId, sha256, mimeType, sizeBytes, title, createdAtMs })
  if (content.kind === 'small') tables.smallContents.insert(id, content.bytes)
  insertLocation(tables, upload, id)
  return { id: publicId, duplicate: false }
}

function insertLocation(tables: Tables, { directoryId, title }: UploadRecord, resourceId: number): void {
  const { filename } = slugName(title, (name) => tables.locations.isUsed(directoryId, name))
  tables.locations.insert({ directoryId, filename, title, resourceId })
}
