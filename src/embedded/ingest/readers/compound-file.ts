import { Reader } from '@kenjiuno/msgreader/lib/Reader.js'
import { DocumentError, unreadable } from './extraction.ts'

const SIGNATURE = Buffer.from('d0cf11e0a1b11ae1', 'hex')
/** Where the header has the number of entries of its table of sectors, and that table, which goes on elsewhere in files beyond 7 MB. */
const HEADER = { sectorShift: 30, directory: 48, miniTable: 60, table: 76, tableEnd: 512, furtherTable: 68 } as const
const ENTRY_BYTES = 128
const ENTRY = { type: 66, links: [68, 72, 76], start: 116, length: 120 } as const
const STREAM = 2
const ROOT = 5
/** Shorter streams are in the small sectors of a table of their own. */
const SMALL_STREAM = 4_096
/** Numbers from here on stand for no sector, and for no entry. */
const NONE = 0xfffffffa

export function isCompoundFile(bytes: Buffer): boolean {
  return bytes.subarray(0, SIGNATURE.length).equals(SIGNATURE)
}

/** Opens the container of older office programs (Compound File Binary, [MS-CFB]). Throws when it is broken. */
export function openCompoundFile(bytes: Buffer) {
  try {
    assertIntact(bytes)
    const reader = new Reader(new DataView(bytes.buffer, bytes.byteOffset, bytes.length))
    reader.parse()
    const root = reader.rootFolder()
    const names = new Set(root.fileNames())
    return {
      has: (name: string) => names.has(name),
      read: (name: string) => Buffer.from(root.readFile(name) ?? []),
      /** True when it embeds objects of other programs, such as charts, or controls. */
      hasObjects:
        names.has('Ctls') ||
        root
          .subFolders()
          .some((each) => /^MBD/.test(each.name) || (each.name === 'ObjectPool' && each.subFolders().length > 0)),
    }
  } catch (error) {
    throw unreadable('The document is broken', error)
  }
}

/** Throws if a chain of sectors forms a circle or leaves the file, since the reader would follow it for ever. */
function assertIntact(bytes: Buffer): void {
  const sectorBytes = 2 ** bytes.readUInt16LE(HEADER.sectorShift)
  const count = Math.ceil(bytes.length / sectorBytes) - 1
  const sectorAt = (sector: number) => bytes.subarray((sector + 1) * sectorBytes, (sector + 2) * sectorBytes)
  const next = numbersOf(Buffer.concat(tableOf(bytes, sectorAt, count).map(sectorAt)))
  const seen = new Set<number>()
  const directory = follow(bytes.readUInt32LE(HEADER.directory), next, seen, count)
  const miniTable = follow(bytes.readUInt32LE(HEADER.miniTable), next, seen, count)
  const small = numbersOf(Buffer.concat(miniTable.map(sectorAt)))
  const seenSmall = new Set<number>()
  const linked = new Set<number>()
  const entries = Buffer.concat(directory.map(sectorAt))
  for (let at = 0; at + ENTRY_BYTES <= entries.length; at += ENTRY_BYTES) {
    const type = entries[at + ENTRY.type]
    const [start, length] = [entries.readUInt32LE(at + ENTRY.start), entries.readUInt32LE(at + ENTRY.length)]
    if (type === ROOT || (type === STREAM && length >= SMALL_STREAM)) follow(start, next, seen, count)
    else if (type === STREAM && length > 0) follow(start, small, seenSmall, small.length)
    if (type === STREAM && length > bytes.length) throw new DocumentError('it is cut')
    if (type === 0) continue
    for (const link of ENTRY.links.map((place) => entries.readUInt32LE(at + place)).filter((each) => each < NONE)) {
      if (link * ENTRY_BYTES >= entries.length || linked.has(link)) throw new DocumentError('its directory is broken')
      linked.add(link)
    }
  }
}

/** The sectors that hold the table of what sector follows each sector. */
function tableOf(bytes: Buffer, sectorAt: (sector: number) => Buffer, count: number): number[] {
  const sectors = [...numbersOf(bytes.subarray(HEADER.table, HEADER.tableEnd))]
  const seen = new Set<number>()
  for (let further = bytes.readUInt32LE(HEADER.furtherTable); further < NONE; ) {
    if (further >= count || seen.has(further)) throw new DocumentError('its table of sectors is broken')
    seen.add(further)
    const numbers = numbersOf(sectorAt(further))
    sectors.push(...numbers.subarray(0, -1))
    further = numbers.at(-1) ?? NONE
  }
  const used = sectors.filter((sector) => sector < NONE)
  if (used.some((sector) => sector >= count)) throw new DocumentError('it is cut')
  return used
}

/** Returns a chain of sectors. Throws where it comes upon a sector that does not exist, or for the second time upon one. */
function follow(first: number, next: Uint32Array, seen: Set<number>, count: number): number[] {
  const sectors: number[] = []
  for (let sector = first; sector < NONE; sector = next[sector] ?? NONE) {
    if (sector >= count) throw new DocumentError('it is cut')
    if (seen.has(sector)) throw new DocumentError('its sectors form a circle')
    seen.add(sector)
    sectors.push(sector)
  }
  return sectors
}

function numbersOf(bytes: Buffer): Uint32Array {
  return Uint32Array.from({ length: Math.floor(bytes.length / 4) }, (_, index) => bytes.readUInt32LE(4 * index))
}
