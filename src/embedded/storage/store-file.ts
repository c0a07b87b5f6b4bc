import type { DirectoryRow } from '../database/directories-table.ts'
import { newIdentifier } from '../identifiers.ts'
import type { Service } from '../service-parts.ts'
import type { ReceivedContent } from './content-receiver.ts'
import { type IngestedText, type RecordedUpload, recordUpload } from './record-upload.ts'
import { titleOf } from './slug.ts'

export interface IncomingFile {
  readonly directory: DirectoryRow
  /** As it was sent. */
  readonly fileName: string
  readonly mimeType: string
  readonly charset?: string | null | undefined
  readonly content: ReceivedContent
}

type Store = Pick<Service, 'tables' | 'files' | 'writes' | 'clock' | 'ingestion'>

/**
 * Stores one file and starts its ingestion, or ingests it together with its record; undefined when its library was deleted
 * meanwhile. Everything is durable when this resolves: a small content with its record, a large one before it.
 */
export async function storeFile(
  store: Store,
  { fileName, ...rest }: IncomingFile,
): Promise<RecordedUpload | undefined> {
  const { tables, files } = store
  const file = { ...rest, title: titleOf(fileName) }
  const { content, mimeType, directory } = file
  const isKnown = tables.resources.byContent(content.sha256, directory.libraryId, mimeType) !== undefined
  if (isKnown) return writeRecord(store, file)
  if (content.kind === 'small') return writeRecord(store, file, await store.ingestion.readAtOnce({ ...file, content }))
  try {
    await files.keep(content.sha256, content)
    return await writeRecord(store, file)
  } finally {
    files.release(content.sha256)
  }
}

async function writeRecord(
  store: Store,
  { directory, ...file }: Omit<IncomingFile, 'fileName'> & { readonly title: string },
  ingested?: IngestedText,
): Promise<RecordedUpload | undefined> {
  const { tables, writes, clock, ingestion } = store
  const { id: directoryId, libraryId } = directory
  const createdAtMs = clock.nowMs()
  const upload = { ...file, publicId: newIdentifier(createdAtMs), libraryId, directoryId, createdAtMs, ingested }
  const recorded = await writes.write(() =>
    tables.libraries.byId(libraryId) ? recordUpload(tables, upload) : undefined,
  )
  if (recorded && !recorded.duplicate) ingestion.wake({ mimeType: file.mimeType, sizeBytes: file.content.sizeBytes })
  return recorded
}
