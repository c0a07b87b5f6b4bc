import { constants, crc32, deflateRawSync } from 'node:zlib'

export interface MadeEntry {
  readonly content: string | Uint8Array
  /** The size that the archive declares, if it is false. */
  readonly declaredBytes?: number
  readonly isStored?: boolean
  /** Marked as encrypted; the bytes are those of `content` as they are. */
  readonly isEncrypted?: boolean
  /** How often the content is repeated, at a few bytes of the archive for each megabyte. */
  readonly times?: number
}

/** A ZIP archive of these files. */
export function makeZip(files: Readonly<Record<string, string | MadeEntry>>): Buffer {
  const parts: Buffer[] = []
  const directory: Buffer[] = []
  let position = 0
  for (const [name, file] of Object.entries(files)) {
    const made = typeof file === 'string' ? { content: file } : file
    const bytes = Buffer.from(made.content)
    const { isStored = false, isEncrypted = false, times = 1, declaredBytes = bytes.length * times } = made
    const packed = isStored ? bytes : deflate(bytes, times)
    const common = Buffer.alloc(26)
    common.writeUInt16LE(20, 0)
    common.writeUInt16LE(isEncrypted ? 1 : 0, 2)
    common.writeUInt16LE(isStored ? 0 : 8, 4)
    if (times === 1) common.writeUInt32LE(crc32(bytes), 10)
    common.writeUInt32LE(packed.length, 14)
    common.writeUInt32LE(declaredBytes, 18)
    common.writeUInt16LE(Buffer.byteLength(name), 22)
    parts.push(Buffer.from('PK\x03\x04'), common, Buffer.from(name), packed)
    const tail = Buffer.alloc(14)
    tail.writeUInt32LE(position, 10)
    directory.push(Buffer.from('PK\x01\x02\x14\x00'), common, tail, Buffer.from(name))
    position += 4 + 26 + Buffer.byteLength(name) + packed.length
  }
  const end = Buffer.alloc(18)
  const count = Object.keys(files).length
  const size = directory.reduce((sum, { length }) => sum + length, 0)
  end.writeUInt16LE(count, 4)
  end.writeUInt16LE(count, 6)
  end.writeUInt32LE(size, 8)
  end.writeUInt32LE(position, 12)
  return Buffer.concat([...parts, ...directory, Buffer.from('PK\x05\x06'), end])
}

function deflate(bytes: Buffer, times: number): Buffer {
  if (times === 1) return deflateRawSync(bytes)
  const block = deflateRawSync(bytes, { finishFlush: constants.Z_FULL_FLUSH, level: 9 })
  return Buffer.concat([...Array.from({ length: times }, () => block), deflateRawSync('')])
}
