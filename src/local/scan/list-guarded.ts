import { constants } from 'node:fs'
import { fileError } from '../read/file-errors.ts'
import type { FileSystem } from '../read/file-system.ts'
import { isUnder } from '../read/open-guarded.ts'
import { type Listing, readListing } from './read-listing.ts'

/** A directory of a mirror. */
export interface DirectoryLocation {
  /** As inspectRoot gives it. */
  readonly rootRealPath: string
  readonly path: string
  readonly relativePath: string
}

// Only Linux leads from a descriptor to the directory that it stands for.
const FLAGS = constants.O_RDONLY | (constants.O_DIRECTORY ?? 0) | (constants.O_NOFOLLOW ?? 0)
const HAS_DESCRIPTOR_PATHS = process.platform === 'linux'

/**
 * Lists a directory of a mirror so that no name from outside the root is read, whatever on the way to it is swapped for a link
 * meanwhile. Throws FileError `outside-root`, or what the system says.
 */
export function listGuarded(fs: FileSystem, place: DirectoryLocation): Listing {
  if (!HAS_DESCRIPTOR_PATHS) return listBetweenChecks(fs, place)
  const descriptor = fs.openSync(place.path, FLAGS)
  try {
    const descriptorPath = `/proc/self/fd/${descriptor}`
    const realPath = readLink(fs, descriptorPath)
    if (realPath === undefined) return listBetweenChecks(fs, place)
    assertInRoot(realPath, place)
    return readListing(fs, descriptorPath)
  } finally {
    fs.closeSync(descriptor)
  }
}

/** Undefined where `/proc` is not mounted. */
function readLink(fs: FileSystem, path: string): string | undefined {
  try {
    return fs.readlinkSync(path)
  } catch {
    return undefined
  }
}

/** The next best: a swap would have to begin after one look and to end before the other. */
function listBetweenChecks(fs: FileSystem, place: DirectoryLocation): Listing {
  assertInRoot(fs.realpathSync(place.path), place)
  const listing = readListing(fs, place.path)
  assertInRoot(fs.realpathSync(place.path), place)
  return listing
}

function assertInRoot(realPath: string, { rootRealPath, relativePath }: DirectoryLocation): void {
  if (realPath === rootRealPath || isUnder(rootRealPath, realPath)) return
  throw fileError('outside-root', relativePath === '' ? '.' : relativePath, "it lies outside the mirror's directory")
}
