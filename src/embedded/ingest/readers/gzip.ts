import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import { contentTypeOf } from './content-kind.ts'
import { type ExtractionEnd, type ExtractionSource, partial, readWhole } from './extraction.ts'

const MAX_BYTES = 64 * 2 ** 20
/** Repetitive text shrinks to about a hundredth; gzip can reach a thousandth. */
const MAX_RATIO = 250
/** Below this, the ratio does no harm. */
const ANY_RATIO_BYTES = 2 ** 20
const HTML = /^\s*<(?:!doctype\s+html|html)\b/i

/**
 * Reads a gzip (RFC 1952) as the file in it, whose type its first bytes show; the end is `partial` when it is too large or holds
 * another gzip. Throws for a broken one.
 */
export async function readGzip(
  source: ExtractionSource,
  read: (inner: ExtractionSource) => Promise<ExtractionEnd>,
): Promise<ExtractionEnd> {
  const most = Math.min(MAX_BYTES, Math.max(ANY_RATIO_BYTES, source.sizeBytes * MAX_RATIO))
  const bytes = await unpack(source, most)
  if (!bytes) return partial(`It unpacks to more than ${Math.round(most / 2 ** 20)} MiB: only its title is searchable`)
  const mimeType = HTML.test(bytes.toString('latin1', 0, 256)) ? 'text/html' : 'application/octet-stream'
  const inner = { mimeType, sizeBytes: bytes.length, chunks: () => [bytes] }
  if ((await contentTypeOf(inner)).kind === 'gzip')
    return partial('It holds another gzip: only its title is searchable')
  return await read(inner)
}

/** Undefined when there is more than `most` bytes. */
async function unpack(source: ExtractionSource, most: number): Promise<Buffer | undefined> {
  const packed = await readWhole(source)
  try {
    return await promisify(gunzip)(packed, { maxOutputLength: most })
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ERR_BUFFER_TOO_LARGE') return undefined
    throw error
  }
}
