import type { Readable } from 'node:stream'
import { ApiError, invalid, tooLarge } from '../http/api-error.ts'
import { ContentReceiver } from '../storage/content-receiver.ts'
import { MultipartParser, type PartListener } from './multipart-parser.ts'
import type { PartHeaders } from './part-headers.ts'

const MAX_FIELD_BYTES = 64 * 1024
const MIME_TYPE = /^[\w.+!#$&^-]+\/[\w.+!#$&^-]+$/

export interface FormLimits {
  readonly temporaryDir: string
  readonly maxUploadBytes: number
}

/** One file with its fields, as far as 4.12 knows them. */
export interface ReceivedForm {
  readonly title: string
  readonly mimeType: string
  readonly content: ContentReceiver
  /** The value of the field `path`. */
  readonly path: string | undefined
}

/**
 * Reads a whole upload form from a request's body, whatever the order of its parts. Throws 413, 422, MalformedFormError, or
 * what the broken connection throws; then nothing of the upload is left.
 */
export async function receiveForm(body: Readable, boundary: string, limits: FormLimits): Promise<ReceivedForm> {
  const form = new FormCollector(limits)
  try {
    const parser = new MultipartParser(boundary, form)
    for await (const chunk of body.iterator({ destroyOnReturn: false })) {
      parser.feed(chunk)
      await form.content?.spill()
    }
    parser.end()
    return form.finish()
  } catch (error) {
    // What is still to come is read away: a client that is cut off would not see why it was refused.
    body.resume()
    await form.content?.dispose()
    throw error
  }
}

/** The boundary of a `multipart/form-data` request; throws 415 for another type and 422 without a boundary. */
export function boundaryOf(contentType: string | undefined): string {
  if (!/^multipart\/form-data\s*(;|$)/i.test(contentType ?? '')) {
    throw new ApiError(415, 'The body must be multipart/form-data')
  }
  const [, quoted, plain] = /;\s*boundary=(?:"([^"]{1,200})"|([^\s;"]{1,200}))/i.exec(contentType ?? '') ?? []
  const boundary = quoted ?? plain
  if (boundary === undefined) throw invalid('body', 'The form has no boundary')
  return boundary
}

class FormCollector implements PartListener {
  readonly #limits: FormLimits
  readonly #fields = new Map<string, Buffer[]>()
  #file: PartHeaders | undefined
  #fieldBytes = 0
  #takeData: (bytes: Buffer) => void = () => {}
  content: ContentReceiver | undefined

  constructor(limits: FormLimits) {
    this.#limits = limits
  }

  onPart(headers: PartHeaders): void {
    if (headers.field === 'file') this.#beginFile(headers)
    else this.#beginField(headers.field ?? '')
  }

  onData(bytes: Buffer): void {
    this.#takeData(bytes)
  }

  finish(): ReceivedForm {
    const path = this.#fields.get('path')
    if (!this.#file?.fileName || !this.content)
      throw invalid('file', 'A file with a name is needed in the field "file"')
    return {
      title: this.#file.fileName,
      mimeType: this.#file.mimeType ?? 'application/octet-stream',
      content: this.content,
      path: path && Buffer.concat(path).toString('utf8'),
    }
  }

  #beginFile(headers: PartHeaders): void {
    if (this.#file) throw invalid('file', 'One file an upload')
    if (headers.mimeType !== undefined && !MIME_TYPE.test(headers.mimeType)) {
      throw invalid('file', 'The Content-Type of the file is malformed')
    }
    this.#file = headers
    const content = new ContentReceiver(this.#limits.temporaryDir)
    this.content = content
    this.#takeData = (bytes) => {
      content.take(bytes)
      if (content.sizeBytes > this.#limits.maxUploadBytes) throw tooLarge('The file is larger than this instance takes')
    }
  }

  #beginField(name: string): void {
    const chunks: Buffer[] = []
    this.#fields.set(name, chunks)
    this.#takeData = (bytes) => {
      this.#fieldBytes += bytes.length
      if (this.#fieldBytes > MAX_FIELD_BYTES) throw invalid(name || 'body', 'The fields of the form are too long')
      chunks.push(bytes)
    }
  }
}
