import { isUtf8 } from 'node:buffer'
import type { FileSystem } from '../read/file-system.ts'

export interface Listing {
  /** In code-unit order. */
  readonly names: readonly string[]
  /** Names that are not UTF-8, which paths of this program cannot express, with their bytes escaped: `caf\xE9.txt`. */
  readonly namesNotUtf8: readonly string[]
}

const REPLACEMENT = '\ufffd'

/** Lists one directory. Where a name may not be UTF-8, it lists the directory again as bytes to find those names. */
export function readListing(fs: FileSystem, path: string): Listing {
  const names = fs.readdirSync(path)
  if (!names.some((name) => name.includes(REPLACEMENT))) return { names: names.sort(), namesNotUtf8: [] }
  const raw = fs.readdirSync(path, { encoding: 'buffer' })
  return {
    names: raw
      .filter((name) => isUtf8(name))
      .map((name) => Buffer.from(name).toString())
      .sort(),
    namesNotUtf8: raw.filter((name) => !isUtf8(name)).map(escapeBytes),
  }
}

function escapeBytes(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) =>
    byte >= 0x20 && byte < 0x7f && byte !== 0x5c
      ? String.fromCharCode(byte)
      : `\\x${byte.toString(16).toUpperCase().padStart(2, '0')}`,
  ).join('')
}
