import type { IncomingHttpHeaders } from 'node:http'
import type { Readable } from 'node:stream'
import { z } from 'zod'
import { INBOX_PATH } from '../../contract/routes.ts'
import { describeIssue } from '../../foundation/text/describe-issue.ts'
import type { DirectoryRow } from '../database/directories-table.ts'
import type { LibraryRow } from '../database/libraries-table.ts'
import { fileTooLarge, notFound } from '../http/api-error.ts'
import { endpoint, type RequestContext } from '../http/endpoint.ts'
import { exactUpload } from '../http/exact-records.ts'
import { libraryPathInput } from '../http/inputs.ts'
import { boundaryOf, MAX_FORM_OVERHEAD_BYTES, type ReceivedForm, receiveForm } from '../http/receive-form.ts'
import { requireLibrary } from '../http/require-access.ts'
import { newIdentifier } from '../identifiers.ts'
import type { Service } from '../service-parts.ts'
import type { ReceivedContent } from '../storage/content-receiver.ts'
import { type IngestedText, type RecordedUpload, recordUpload } from '../storage/record-upload.ts'
import { titleOf } from '../storage/slug.ts'

const fields = z.object({ path: libraryPathInput.default(INBOX_PATH) })

export const uploadFile = endpoint({
  route: 'uploadFile',
  summary: 'Upload one file',
  description: [
    'The MIME type is the one of the part, without parameters (`application/octet-stream` when there is none); its `charset` is',
    'used to read a text that is not in UTF-8. The optional field `path` names the existing directory for the file, `/.inbox` by default;',
    'it may precede or follow the file. If the library has the same bytes with the same MIME type already, the answer is 200 with',
    '`duplicate: true`, and the resource gets one more location, even under the same name. Nothing of an incomplete form is stored.',
    'A short plain text is searchable as soon as this is answered, as `ingestion_status` shows; other files are processed afterwards.',
  ].join(' '),
  form: {
    type: 'object',
    required: ['file'],
    properties: {
      file: { type: 'string', format: 'binary', description: 'The file, with its name and its Content-Type' },
      path: { type: 'string', default: INBOX_PATH, description: 'Library path of an existing directory' },
    },
  },
  responses: {
    200: {
      description: 'The library has these bytes with this MIME type already',
      shape: exactUpload.extend({ duplicate: z.literal(true) }),
    },
    201: {
      description: 'A new resource; its processing follows unless `ingestion_status` is final',
      shape: exactUpload.extend({ duplicate: z.literal(false) }),
    },
  },
  errors: [401, 403, 404, 408, 413, 415, 422, 507],
  async handle(call) {
    const { request, reply } = call
    const { status, answer } = await receiveUpload(call, request.headers, request.raw)
    reply.code(status)
    return answer
  },
})

/** Takes an upload from HTTP or from within the process; throws the errors that `endpoint` turns into responses. */
export async function receiveUpload(
  context: RequestContext,
  headers: Pick<IncomingHttpHeaders, 'content-length' | 'content-type'>,
  body: Readable | Buffer,
) {
  const library = requireLibrary(context, 'resource.create')
  const form = await receiveUploadForm(context.service, headers, body)
  const { id, duplicate, status } = await storeUpload(context.service, library, form)
  const answer = { id, duplicate, ingestion_status: status, ...(status === 'completed' && { text_extracted: true }) }
  return { status: duplicate ? 200 : 201, answer }
}

async function receiveUploadForm(
  { files, maxUploadBytes }: Service,
  { 'content-length': length, 'content-type': type }: IncomingHttpHeaders,
  body: Readable | Buffer,
): Promise<ReceivedForm> {
  if (Number(length ?? 0) > maxUploadBytes + MAX_FORM_OVERHEAD_BYTES) throw fileTooLarge()
  return await receiveForm(body, boundaryOf(type), { maxUploadBytes, temporaryDir: files.temporaryDir })
}

/** Stores a received file in a library and removes its temporary file; throws 404 and 422. */
export async function storeUpload(service: Service, library: LibraryRow, form: ReceivedForm): Promise<RecordedUpload> {
  const { fileName, mimeType, charset, content } = form
  try {
    const { path } = fields.parse(form, { error: describeIssue })
    const directory = service.tables.directories.byPath(library.id, path)
    if (!directory) throw notFound(`The directory ${path}`)
    await content.spill()
    const file = { fileName, mimeType, charset, directory, content: await content.finish() }
    const recorded = await storeFile(service, file)
    if (!recorded) throw notFound('Library')
    return recorded
  } finally {
    await content.dispose()
  }
}

interface IncomingFile {
  readonly directory: DirectoryRow
  /** The name in the upload, unchanged. */
  readonly fileName: string
  readonly mimeType: string
  readonly charset?: string | null | undefined
  readonly content: ReceivedContent
}

type Store = Pick<Service, 'tables' | 'files' | 'writes' | 'clock' | 'ingestion'>

/**
 * Stores one file and either ingests it at once or starts its ingestion; returns undefined if its library was deleted meanwhile. When
 * this resolves, everything is durable. A small content becomes durable together with its record, a large one before it.
 */
async function storeFile(store: Store, { fileName, ...rest }: IncomingFile): Promise<RecordedUpload | undefined> {
  const { tables, files } = store
  const file = { ...rest, title: titleOf(fileName) }
  const { content, mimeType, directory } = file
  const isDuplicate = tables.resources.byContent(content.sha256, directory.libraryId, mimeType) !== undefined
  if (isDuplicate) return writeRecord(store, file)
  if (content.kind === 'small') return writeRecord(store, file, await store.ingestion.readAtOnce({ ...file, content }))
  try {
    await files.store(content.sha256, content)
    return await writeRecord(store, file)
  } finally {
    files.release(content.sha256)
    // Without a record, because the library was deleted meanwhile or the disk is full, nothing else would remove the file.
    if (!tables.resources.usesContent(content.sha256)) files.remove(content.sha256)
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
