import { isUtf8 } from 'node:buffer'
import { constants } from 'node:fs'
import { fileError } from '../read/file-errors.ts'
import { type FileSystem, tryReadLink } from '../read/file-system.ts'
import { isInPlace, type RootPlace } from '../read/inspect-root.ts'
import { isUnder } from '../read/open-guarded.ts'

/** Where a directory of a mirror lies. */
export interface DirectoryLocation {
  readonly root: RootPlace
  readonly relativePath: string
}

// Only Linux has paths (/proc/self/fd) that name the directory of a descriptor.
const FLAGS = constants.O_RDONLY | (constants.O_DIRECTORY ?? 0) | (constants.O_NOFOLLOW ?? 0)
const HAS_DESCRIPTOR_PATHS = process.platform === 'linux'

/**
 * Lists a directory of a mirror. No name from outside the root is read, even if a directory on the path is replaced by a link
 * meanwhile. Throws FileError `outside-root`, or the system's error.
 */
export function listGuarded(fs: FileSystem, place: DirectoryLocation): Listing {
  if (!HAS_DESCRIPTOR_PATHS) return listBetweenChecks(fs, place)
  const descriptor = fs.openSync(accessPathOf(place), FLAGS)
  try {
    const descriptorPath = `/proc/self/fd/${descriptor}`
    const realPath = tryReadLink(fs, descriptorPath)
    if (realPath === undefined) return listBetweenChecks(fs, place)
    assertInRoot(realPath, place)
    return readListing(fs, descriptorPath)
  } finally {
    fs.closeSync(descriptor)
  }
}

/** The path of the directory itself: what is at `accessPath` alone may be a link of the system's. */
function accessPathOf({ root, relativePath }: DirectoryLocation): string {
  return `${root.accessPath}/${relativePath === '' ? '.' : relativePath}`
}

/** Without descriptor paths, only a swap that begins after the first check and ends before the second stays unnoticed. */
function listBetweenChecks(fs: FileSystem, place: DirectoryLocation): Listing {
  const path = accessPathOf(place)
  assertInRoot(fs.realpathSync(path), place)
  const listing = readListing(fs, path)
  assertInRoot(isInPlace(fs, place.root) ? fs.realpathSync(path) : undefined, place)
  return listing
}

function assertInRoot(realPath: string | undefined, { root, relativePath }: DirectoryLocation): void {
  if (realPath === root.realPath || isUnder(root.realPath, realPath)) return
  throw fileError('outside-root', relativePath === '' ? '.' : relativePath, "it lies outside the mirror's directory")
}

export interface Listing {
  /** In code-unit order. */
  readonly names: readonly string[]
  /** Names that are not UTF-8, which paths of this program cannot express, with their bytes escaped: `caf\xE9.txt`. */
  readonly namesNotUtf8: readonly string[]
}

const REPLACEMENT = '\ufffd'

/** Lists one directory. Where a name may not be UTF-8, it lists the directory again as bytes to find those names. */
function readListing(fs: FileSystem, path: string): Listing {
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
