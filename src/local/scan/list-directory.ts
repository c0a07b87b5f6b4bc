import { isUtf8 } from 'node:buffer'
import { constants } from 'node:fs'
import { readListedIgnoreFile } from '../ignore/ignore-files.ts'
import type { IgnoreScope } from '../ignore/ignore-scope.ts'
import { fileError, fileProblemOf } from '../read/file-errors.ts'
import { type FileSystem, isDirectory, tryReadLink } from '../read/file-system.ts'
import { isInPlace, type RootPlace } from '../read/open-and-recheck-root.ts'
import { isUnder } from '../read/open-guarded.ts'
import {
  type DirectoryListing,
  type DirectoryLocation,
  isPassedOver,
  type ListedDirectory,
  type ListingContext,
  type ListOptions,
  noFindings,
  statEntry,
} from './stat-entry.ts'

/**
 * Lists one directory with the state of each entry; `scope` belongs to the directory above. Names are listed through the open root.
 * States are read by real paths, which is twice as fast, and again through the root where they differ.
 */
export function listDirectory(
  fs: FileSystem,
  root: RootPlace,
  relativePath: string,
  scope: IgnoreScope,
  options: ListOptions,
): DirectoryListing {
  const path = relativePath === '' ? root.realPath : `${root.realPath}/${relativePath}`
  const directory = { root, path, relativePath }
  try {
    const listing = listGuarded(fs, directory)
    const readText = (name: string) =>
      listing.names.includes(name) ? readListedIgnoreFile(fs, root, relativePath, name) : undefined
    return scanListing(fs, { ...directory, scope: scope.enter(relativePath, readText), options }, listing)
  } catch (error) {
    return { kind: 'unreadable', ...fileProblemOf(error, relativePath === '' ? '.' : relativePath) }
  }
}

function scanListing(fs: FileSystem, place: ListingContext, listing: Listing): ListedDirectory {
  const found = noFindings(listing.names.length)
  for (const name of listing.namesNotUtf8) {
    if (!isPassedOver(place, name, 'file', found)) found.skipped.push({ name, reason: 'name-not-utf8' })
  }
  for (const name of listing.names) statEntry(fs, place, name, found)
  const { vanished, ...findings } = found
  const isEmpty = listing.names.length === 0
  if (isEmpty || vanished.length > 0) assertStillThere(fs, place)
  const hasChanged = vanished.length > 0 && !isPlainLoss(listGuarded(fs, place), listing, new Set(vanished))
  const incomplete = hasChanged || found.problems.length > 0
  return { kind: 'scanned', scope: place.scope, ...findings, uncertain: hasChanged ? vanished : [], incomplete }
}

/** Throws when the directory was moved or replaced, since it only looks empty. */
function assertStillThere(fs: FileSystem, { root, path, relativePath, options }: ListingContext): void {
  const stats = fs.lstatSync(path, { bigint: true })
  if (!isDirectory(stats)) throw fileError('vanished', relativePath, 'it was replaced by something else')
  if (options.rules.oneFileSystem && stats.dev !== root.device) {
    throw fileError('outside-root', relativePath, 'another file system was mounted there')
  }
}

/** The second listing lacks only those that vanished. */
function isPlainLoss(now: Listing, before: Listing, vanished: ReadonlySet<string>): boolean {
  const known = new Set(before.names)
  return now.names.every((name) => known.has(name) && !vanished.has(name))
}

// Only Linux has paths (/proc/self/fd) that name the directory of a descriptor.
const FLAGS = constants.O_RDONLY | (constants.O_DIRECTORY ?? 0) | (constants.O_NOFOLLOW ?? 0)
const HAS_DESCRIPTOR_PATHS = process.platform === 'linux'

/**
 * No name from outside the root is read, even if a directory on the path is replaced by a link. Throws FileError `outside-root`, or the
 * system's error.
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

/** `accessPath` alone may be a link of the system. */
function accessPathOf({ root, relativePath }: DirectoryLocation): string {
  return `${root.accessPath}/${relativePath === '' ? '.' : relativePath}`
}

/** Only a swap between the two checks that is undone stays unnoticed. */
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

interface Listing {
  /** In code-unit order. */
  readonly names: readonly string[]
  /** Paths cannot express these names: `caf\xE9.txt`, with bytes escaped. */
  readonly namesNotUtf8: readonly string[]
}

const REPLACEMENT = '\ufffd'

/** Where a name may not be UTF-8, lists again as bytes. */
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
