import { zstdCompressSync, zstdDecompressSync } from 'node:zlib'
import { messageOf } from '../../foundation/errors.ts'

/** Stored bytes are not those that were written. */
export class DamagedBytesError extends Error {}

/** Returns the bytes compressed with zstd if that is shorter, otherwise unchanged. The length tells `unpackBytes` which of the two. */
export function packBytes(bytes: Buffer): Buffer {
  const packed = zstdCompressSync(bytes, { chunkSize: chunkSizeOf(bytes.length) })
  return packed.length < bytes.length ? packed : bytes
}

/** Returns the `sizeBytes` bytes from which `packBytes` made `stored`. Throws DamagedBytesError if `stored` is damaged. */
export function unpackBytes(stored: Buffer, sizeBytes: number): Buffer {
  if (stored.length === sizeBytes) return stored
  try {
    const bytes = zstdDecompressSync(stored, {
      chunkSize: chunkSizeOf(sizeBytes),
      maxOutputLength: sizeBytes + 1,
    })
    if (bytes.length === sizeBytes) return bytes
  } catch (error) {
    throw new DamagedBytesError(`Cannot unpack ${stored.length} stored bytes: ${messageOf(error)}`)
  }
  throw new DamagedBytesError(`${stored.length} stored bytes do not unpack to ${sizeBytes} bytes`)
}

/** Returns the size of one chunk for all bytes, which saves a fifth of the time of chunks of 16 KiB. Node requires at least 64. */
function chunkSizeOf(sizeBytes: number): number {
  return Math.max(64, sizeBytes)
}
