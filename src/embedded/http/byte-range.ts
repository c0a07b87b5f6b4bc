import type { ByteRange } from '../contents/seekable-zstd.ts'

/**
 * Reads the header `Range` of a request (RFC 9110, 14.1). Returns undefined when the whole content is to be sent: without the
 * header, for a malformed one, for several ranges, and for other units than bytes.
 */
export function readRange(header: string | undefined, sizeBytes: number): ByteRange | 'unsatisfiable' | undefined {
  const [, first, last] = /^bytes=(\d*)-(\d*)$/i.exec(header?.replaceAll(/\s/g, '') ?? '') ?? []
  if (first === undefined || last === undefined || first + last === '') return undefined
  if (first === '') return lastBytes(Number(last), sizeBytes)
  const start = Number(first)
  const end = last === '' ? sizeBytes - 1 : Number(last)
  if (start >= sizeBytes) return 'unsatisfiable'
  return start <= end ? { start, end: Math.min(end, sizeBytes - 1) } : undefined
}

function lastBytes(count: number, sizeBytes: number): ByteRange | 'unsatisfiable' {
  if (count === 0 || sizeBytes === 0) return 'unsatisfiable'
  return { start: Math.max(0, sizeBytes - count), end: sizeBytes - 1 }
}

/** True when a list of entity tags (`If-None-Match`, `If-Range`) names this one, or any. */
export function namesEntityTag(header: string | undefined, entityTag: string): boolean {
  const named = (header ?? '').split(',').map((tag) => tag.trim().replace(/^W\//, ''))
  return named.includes(entityTag) || named.includes('*')
}
