import { createHash, type Hash, hash } from 'node:crypto'

interface DigestedFile {
  readonly name: string
  readonly fingerprint: {
    readonly sizeBytes: number
    readonly mtimeNs: bigint
    readonly ctimeNs: bigint
    readonly inode: bigint
  }
}

const NUMBERS_BYTES = 32
const MOST_BYTES_OF_A_FILE = NUMBERS_BYTES + 1_024
const scratch = Buffer.allocUnsafe(64 * 1024)

/**
 * A SHA-256 over the names and fingerprints of a directory's files, which must come in a stable order. Equal digests mean
 * that every file is unchanged; comparing digests takes a fraction of the time of comparing rows.
 */
export function digestDirectory(files: Iterable<DigestedFile>): Buffer {
  let running: Hash | undefined
  let offset = 0
  for (const file of files) {
    if (offset > scratch.length - MOST_BYTES_OF_A_FILE) {
      running = (running ?? createHash('sha256')).update(scratch.subarray(0, offset))
      offset = 0
    }
    offset = writeFile(file, offset)
  }
  const last = scratch.subarray(0, offset)
  // One call is cheaper than a hash object, and most directories are small.
  return running ? running.update(last).digest() : hash('sha256', last, 'buffer')
}

function writeFile({ name, fingerprint }: DigestedFile, start: number): number {
  scratch.writeDoubleLE(fingerprint.sizeBytes, start)
  scratch.writeBigUInt64LE(BigInt.asUintN(64, fingerprint.mtimeNs), start + 8)
  scratch.writeBigUInt64LE(BigInt.asUintN(64, fingerprint.ctimeNs), start + 16)
  scratch.writeBigUInt64LE(BigInt.asUintN(64, fingerprint.inode), start + 24)
  const end = start + NUMBERS_BYTES + scratch.write(name, start + NUMBERS_BYTES)
  // Names contain no zero byte, so different listings give different bytes.
  scratch[end] = 0
  return end + 1
}
