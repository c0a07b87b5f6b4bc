import type { Readable } from 'node:stream'
import { ContentReceiver } from '../storage/content-receiver.ts'
import { ApiError, fileTooLarge, invalid, tooLarge } from './api-error.ts'
import { MultipartParser, type PartHeaders, type PartListener } from './multipart-parser.ts'

const MAX_FIELD_BYTES = 64 * 1024
const MAX_FIELD_NAME_BYTES = 255
const MAX_FILE_NAME_BYTES = 1_024
const MAX_PARTS = 32
/** RFC 2046. */
const MAX_BOUNDARY_LENGTH = 70
/** Bounds everything in a form except the bytes of its file: headers, fields, and text before and after the parts. */
export const MAX_FORM_OVERHEAD_BYTES = 256 * 1024
/** RFC 6838: type and subtype have at most 127 characters each. */
const MIME_TYPE = /^[\w.+!#$&^-]{1,127}\/[\w.+!#$&^-]{1,127}$/

const CHARSET = /^[\w.:-]{1,40}$/

interface FormLimits {
  readonly temporaryDir: string
  readonly maxUploadBytes: number
}

/** An uploaded file and the fields of its form. */
export interface ReceivedForm {
  readonly fileName: string
  readonly mimeType: string
  /** The encoding that the sender names; null if there is none, or if its name is malformed. */
  readonly charset: string | null
  readonly content: ContentReceiver
  /** The value of the field `path`. */
  readonly path: string | undefined
}

/**
 * Reads a whole upload form from a request's body; its parts may have any order. If it throws (413, 422, MalformedFormError, or the
 * error of a broken connection), it first removes what it has received.
 */
export async function receiveForm(
  body: Readable | Buffer,
  boundary: string,
  limits: FormLimits,
): Promise<ReceivedForm> {
  const form = new FormCollector(limits)
  try {
    const parser = new MultipartParser(boundary, form)
    let receivedBytes = 0
    for await (const chunk of Buffer.isBuffer(body) ? [body] : body.iterator({ destroyOnReturn: false })) {
      parser.feed(chunk)
      receivedBytes += chunk.length
      if (receivedBytes - (form.content?.sizeBytes ?? 0) > MAX_FORM_OVERHEAD_BYTES) {
        throw tooLarge('The form holds too much besides its file')
      }
      await form.content?.spill()
    }
    parser.end()
    return form.finish()
  } catch (error) {
    // Discards the remaining body instead of closing the connection, because the client would not see the error otherwise.
    if (!Buffer.isBuffer(body)) body.resume()
    await form.content?.dispose()
    throw error
  }
}

/** Returns the boundary of a `multipart/form-data` request. Throws 415 for another type, 422 for a missing or too long boundary. */
export function boundaryOf(contentType: string | undefined): string {
  if (!/^multipart\/form-data\s*(;|$)/i.test(contentType ?? '')) {
    throw new ApiError(415, 'The body must be multipart/form-data')
  }
  const [, quoted, plain = ''] = /;\s*boundary=(?:"([^"]*)"|([^\s;"]*))/i.exec(contentType ?? '') ?? []
  const boundary = quoted ?? plain
  if (boundary === '') throw invalid('body', 'The form has no boundary')
  if (boundary.length > MAX_BOUNDARY_LENGTH) {
    throw invalid('body', `The boundary of the form is longer than ${MAX_BOUNDARY_LENGTH} characters`)
  }
  return boundary
}

class FormCollector implements PartListener {
  readonly #limits: FormLimits
  readonly #fields = new Map<string, Buffer[]>()
  #file: PartHeaders | undefined
  #fieldBytes = 0
  #partCount = 0
  #receiveData: (bytes: Buffer) => void = () => {}
  content: ContentReceiver | undefined

  constructor(limits: FormLimits) {
    this.#limits = limits
  }

  onPart(headers: PartHeaders): void {
    this.#partCount += 1
    if (this.#partCount > MAX_PARTS) throw invalid('body', `The form has more than ${MAX_PARTS} parts`)
    if (headers.field === 'file') this.#beginFile(headers)
    else this.#beginField(headers.field ?? '')
  }

  onData(bytes: Buffer): void {
    this.#receiveData(bytes)
  }

  finish(): ReceivedForm {
    const path = this.#fields.get('path')
    if (!this.#file?.fileName || !this.content)
      throw invalid('file', 'A file with a name is needed in the field "file"')
    return {
      fileName: this.#file.fileName,
      mimeType: this.#file.mimeType ?? 'application/octet-stream',
      charset: CHARSET.exec(this.#file.charset ?? '')?.[0] ?? null,
      content: this.content,
      path: path && Buffer.concat(path).toString('utf8'),
    }
  }

  #beginFile(headers: PartHeaders): void {
    if (this.#file) throw invalid('file', 'An upload has only one file')
    if (Buffer.byteLength(headers.fileName ?? '') > MAX_FILE_NAME_BYTES) {
      throw invalid('file', `The name of the file is longer than ${MAX_FILE_NAME_BYTES} bytes`)
    }
    if (headers.mimeType !== undefined && !MIME_TYPE.test(headers.mimeType)) {
      throw invalid('file', 'The Content-Type of the file is malformed')
    }
    this.#file = headers
    const content = new ContentReceiver(this.#limits.temporaryDir)
    this.content = content
    this.#receiveData = (bytes) => {
      content.add(bytes)
      if (content.sizeBytes > this.#limits.maxUploadBytes) throw fileTooLarge()
    }
  }

  #beginField(name: string): void {
    if (Buffer.byteLength(name) > MAX_FIELD_NAME_BYTES) {
      throw invalid('body', `The name of a field is longer than ${MAX_FIELD_NAME_BYTES} bytes`)
    }
    const chunks: Buffer[] = []
    this.#fields.set(name, chunks)
    this.#receiveData = (bytes) => {
      this.#fieldBytes += bytes.length
      if (this.#fieldBytes > MAX_FIELD_BYTES) throw invalid(name || 'body', 'The fields of the form are too long')
      chunks.push(bytes)
    }
  }
}
