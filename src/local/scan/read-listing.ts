import { isUtf8 } from 'node:buffer'
import type { DirectoryEntry, FileSystem } from '../read/file-system.ts'

export interface Listing {
  /** In code-unit order of their names. */
  readonly entries: readonly DirectoryEntry<string>[]
  /** Names that are not UTF-8, which paths of this program cannot express, with their bytes escaped: `caf\xE9.txt`. */
  readonly namesNotUtf8: readonly string[]
}

const REPLACEMENT = '\ufffd'

/** Lists one directory. Where a name may not be UTF-8, it lists the directory again as bytes to find those names. */
export function readListing(fs: FileSystem, path: string): Listing {
  const entries = fs.readdirSync(path, { withFileTypes: true })
  if (!entries.some(({ name }) => name.includes(REPLACEMENT)))
    return { entries: entries.sort(byName), namesNotUtf8: [] }
  const raw = fs.readdirSync(path, { encoding: 'buffer', withFileTypes: true })
  const namesNotUtf8 = raw.filter(({ name }) => !isUtf8(name)).map(({ name }) => escapeBytes(name))
  return {
    entries: raw
      .filter(({ name }) => isUtf8(name))
      .map(decoded)
      .sort(byName),
    namesNotUtf8,
  }
}

function decoded(raw: DirectoryEntry<Uint8Array>): DirectoryEntry<string> {
  return {
    name: Buffer.from(raw.name).toString(),
    isFile: () => raw.isFile(),
    isDirectory: () => raw.isDirectory(),
    isSymbolicLink: () => raw.isSymbolicLink(),
    isSocket: () => raw.isSocket(),
    isFIFO: () => raw.isFIFO(),
  }
}

/** Listings are already sorted by bytes, an order that differs only beyond the basic plane: the sort usually takes one pass. */
function byName(a: DirectoryEntry<string>, b: DirectoryEntry<string>): number {
  return a.name < b.name ? -1 : a.name > b.name ? 1 : 0
}

function escapeBytes(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) =>
    byte >= 0x20 && byte < 0x7f && byte !== 0x5c
      ? String.fromCharCode(byte)
      : `\\x${byte.toString(16).toUpperCase().padStart(2, '0')}`,
  ).join('')
}
