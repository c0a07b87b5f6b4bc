import { hash } from 'node:crypto'

interface SealedFile {
  readonly name: string
  readonly fingerprint: {
    readonly sizeBytes: number
    readonly mtimeNs: bigint
    readonly ctimeNs: bigint
    readonly inode: bigint
  }
}

const NUMBERS_BYTES = 32
const LONGEST_NAME_BYTES = 1_024
let scratch = Buffer.allocUnsafe(64 * 1024)

/**
 * A SHA-256 over the names and fingerprints of a directory's files, which must come in a stable order. Equal seals mean
 * that every file is unchanged, at a fraction of what comparing row by row costs.
 */
export function sealDirectory(files: readonly SealedFile[]): Buffer {
  const mostBytes = files.length * (NUMBERS_BYTES + LONGEST_NAME_BYTES)
  if (scratch.length < mostBytes) scratch = Buffer.allocUnsafe(mostBytes)
  let offset = 0
  for (const { name, fingerprint } of files) {
    scratch.writeDoubleLE(fingerprint.sizeBytes, offset)
    scratch.writeBigUInt64LE(BigInt.asUintN(64, fingerprint.mtimeNs), offset + 8)
    scratch.writeBigUInt64LE(BigInt.asUintN(64, fingerprint.ctimeNs), offset + 16)
    scratch.writeBigUInt64LE(BigInt.asUintN(64, fingerprint.inode), offset + 24)
    offset += NUMBERS_BYTES
    offset += scratch.write(name, offset)
    // No name holds a zero byte, so no two listings give the same bytes.
    scratch[offset] = 0
    offset += 1
  }
  return hash('sha256', scratch.subarray(0, offset), 'buffer')
}
