import type { IncomingHttpHeaders } from 'node:http'
import type { Readable } from 'node:stream'
import { z } from 'zod'
import { INBOX_PATH } from '../../contract/routes.ts'
import { describeIssue } from '../../foundation/text/describe-issue.ts'
import { notFound, tooLarge } from '../http/api-error.ts'
import { type Asked, endpoint } from '../http/endpoint.ts'
import { exactUpload } from '../http/exact-records.ts'
import { libraryPathInput } from '../http/inputs.ts'
import { boundaryOf, MAX_FORM_OVERHEAD_BYTES, type ReceivedForm, receiveForm } from '../http/receive-form.ts'
import { requireLibrary } from '../http/require-access.ts'
import type { Service } from '../service-parts.ts'
import { storeFile } from '../storage/store-file.ts'

const fields = z.object({ path: libraryPathInput.default(INBOX_PATH) })

export const uploadFile = endpoint({
  route: 'uploadFile',
  summary: 'Upload one file',
  description: [
    'The MIME type is the one of the part, without parameters (`application/octet-stream` when there is none); its `charset` is',
    'used to read a text that is not in UTF-8. The optional field `path` names an existing directory to land in, `/.inbox` by default; it may stand before or after the file.',
    'Sending the same bytes with the same MIME type again answers 200 with `duplicate: true` and adds a location, also under the',
    'same name. A form that ends early stores nothing. A short plain text is searchable when this is answered, which',
    '`ingestion_status` shows; all else is processed afterwards.',
  ].join(' '),
  form: {
    type: 'object',
    required: ['file'],
    properties: {
      file: { type: 'string', format: 'binary', description: 'The file, with its name and its Content-Type' },
      path: { type: 'string', default: INBOX_PATH, description: 'Library path of an existing directory' },
    },
  },
  answers: {
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
    const { status, answer } = await takeUpload(call, request.headers, request.raw)
    reply.code(status)
    return answer
  },
})

interface TakenUpload {
  readonly status: 200 | 201
  readonly answer: z.infer<typeof exactUpload>
}

/** Takes an upload, which need not have come by HTTP; throws what `endpoint` answers as an error. */
export async function takeUpload(
  asking: Pick<Asked<unknown>, 'service' | 'grant' | 'id'>,
  headers: Pick<IncomingHttpHeaders, 'content-length' | 'content-type'>,
  body: Readable | Buffer,
): Promise<TakenUpload> {
  const { service } = asking
  const library = requireLibrary(asking, 'resource.create')
  const form = await takeForm(service, headers, body)
  try {
    const { path } = fields.parse(form, { error: describeIssue })
    const directory = service.tables.directories.byPath(library.id, path)
    if (!directory) throw notFound('Directory')
    const content = await form.content.finish()
    const recorded = await storeFile(service, {
      fileName: form.fileName,
      mimeType: form.mimeType,
      charset: form.charset,
      directory,
      content,
    })
    if (!recorded) throw notFound('Library')
    const { id, duplicate, status } = recorded
    const answer = { id, duplicate, ingestion_status: status, ...(status === 'completed' && { text_extracted: true }) }
    return { status: duplicate ? 200 : 201, answer }
  } finally {
    await form.content.dispose()
  }
}

async function takeForm(
  { files, maxUploadBytes }: Service,
  { 'content-length': length, 'content-type': type }: IncomingHttpHeaders,
  body: Readable | Buffer,
): Promise<ReceivedForm> {
  if (Number(length ?? 0) > maxUploadBytes + MAX_FORM_OVERHEAD_BYTES) {
    throw tooLarge('The file is larger than this instance takes')
  }
  return await receiveForm(body, boundaryOf(type), { maxUploadBytes, temporaryDir: files.temporaryDir })
}
