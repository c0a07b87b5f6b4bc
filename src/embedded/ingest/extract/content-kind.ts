import type { ExtractionSource } from './extraction.ts'
import { type ContentKind, kindOf, type TextKind } from './kinds.ts'

/** What a file is: by its bytes if they identify it, otherwise by the MIME type it was sent with. */
export interface ContentType {
  readonly mimeType: string
  readonly kind: ContentKind
}

const HEAD_BYTES = 64 * 1024

/** Kinds that the first bytes identify better than the MIME type does. */
export function isTextKind(kind: ContentKind): kind is TextKind {
  return kind === 'text' || kind === 'html' || kind === 'csv' || kind === 'unknown'
}

/** Containers, whose first bytes do not identify their contents. */
const CONTAINERS: readonly string[] = ['application/zip', 'application/x-cfb']

/** Documents that begin like text. */
const SIGNATURE = /^(?:%PDF-|\{\\rtf)/

/** True for bytes that may be read as text without looking any further. */
export function looksLikeText(head: Buffer): boolean {
  return !head.includes(0) && !SIGNATURE.test(head.toString('latin1', 0, 8))
}

/** Looks at the first bytes, because a name may lie and a type may be missing. */
export async function contentTypeOf(source: ExtractionSource): Promise<ContentType> {
  const named = { mimeType: source.mimeType, kind: kindOf(source.mimeType) }
  const head = await readHead(source)
  if (isTextKind(named.kind) && looksLikeText(head)) return named
  const { fileTypeFromBuffer } = await import('file-type')
  const mimeType = (await fileTypeFromBuffer(head))?.mime
  if (mimeType === undefined) return named
  const isOffice = named.kind === 'office' || named.kind === 'workbook'
  // An encrypted document is stored in the container of older ones; its reader reports that it is encrypted.
  if (mimeType === 'application/x-cfb' && isOffice) return { mimeType, kind: 'office' }
  const isVague = CONTAINERS.includes(mimeType) && !isTextKind(named.kind)
  return isVague ? named : { mimeType, kind: kindOf(mimeType) }
}

async function readHead(source: ExtractionSource): Promise<Buffer> {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of source.chunks()) {
    chunks.push(chunk)
    length += chunk.length
    if (length >= HEAD_BYTES) break
  }
  return Buffer.concat(chunks).subarray(0, HEAD_BYTES)
}
