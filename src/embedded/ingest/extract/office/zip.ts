/** A file of an archive, by its central directory. */
export interface ZipEntry {
  readonly name: string
  readonly isDeflated: boolean
  /** Its bytes are packed, then encrypted with a password. */
  readonly isEncrypted: boolean
  readonly packedBytes: number
  /** What the archive declares, which may be a lie. */
  readonly declaredBytes: number
  /** Where its local header begins. */
  readonly start: number
}

const END_SIGNATURE = Buffer.from('PK\x05\x06', 'latin1')
const END_BYTES = 22
const MAX_COMMENT_BYTES = 0xffff
const ENTRY_SIGNATURE = 0x02014b50
const ENTRY_BYTES = 46
const LOCAL_BYTES = 30
const DEFLATED = 8
const ENCRYPTED = 1

/** Reads the central directory; throws when it is missing or broken. Archives of 4 GiB and more are none of ours. */
export function listEntries(zip: Buffer): ZipEntry[] {
  const from = Math.max(0, zip.length - END_BYTES - MAX_COMMENT_BYTES)
  const end = zip.subarray(from).lastIndexOf(END_SIGNATURE) + from
  if (end < from || end + END_BYTES > zip.length) throw new Error('The document is damaged: its archive has no end')
  const count = zip.readUInt16LE(end + 10)
  const entries: ZipEntry[] = []
  let at = zip.readUInt32LE(end + 16)
  for (let index = 0; index < count; index += 1) {
    if (at + ENTRY_BYTES > zip.length || zip.readUInt32LE(at) !== ENTRY_SIGNATURE) {
      throw new Error('The document is damaged: the list of its archive is broken')
    }
    const nameBytes = zip.readUInt16LE(at + 28)
    entries.push({
      name: zip.toString('utf8', at + ENTRY_BYTES, at + ENTRY_BYTES + nameBytes),
      isEncrypted: (zip.readUInt16LE(at + 8) & ENCRYPTED) > 0,
      isDeflated: zip.readUInt16LE(at + 10) === DEFLATED,
      packedBytes: zip.readUInt32LE(at + 20),
      declaredBytes: zip.readUInt32LE(at + 24),
      start: zip.readUInt32LE(at + 42),
    })
    at += ENTRY_BYTES + nameBytes + zip.readUInt16LE(at + 30) + zip.readUInt16LE(at + 32)
  }
  return entries
}

/** The bytes of an entry as they are packed; throws when they lie outside the archive. */
export function packedBytesOf(zip: Buffer, { name, start, packedBytes }: ZipEntry): Buffer {
  const isInside = start + LOCAL_BYTES <= zip.length
  const from = isInside ? start + LOCAL_BYTES + zip.readUInt16LE(start + 26) + zip.readUInt16LE(start + 28) : 0
  if (!isInside || from + packedBytes > zip.length) throw new Error(`The document is damaged: "${name}" is cut short`)
  return zip.subarray(from, from + packedBytes)
}
