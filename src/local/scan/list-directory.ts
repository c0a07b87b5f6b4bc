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
  type ListedDirectory,
  type ListingContext,
  type ListOptions,
  noFindings,
  recordIfIgnored,
  statEntry,
} from './stat-entry.ts'

/**
 * Lists one directory with the state of each entry; `scope` has the rules of the directory above. Names are listed through the open root.
 * States are read by real paths, which is twice as fast; if that fails, they are read through the root.
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

function scanListing(fs: FileSystem, context: ListingContext, listing: Listing): ListedDirectory {
  const found = noFindings(listing.names.length)
  for (const name of listing.namesNotUtf8) {
    if (!recordIfIgnored(context, name, 'file', found)) found.skipped.push({ name, reason: 'name-not-utf8' })
  }
  for (const name of listing.names) statEntry(fs, context, name, found)
  const { vanished, ...findings } = found
  const isEmpty = listing.names.length === 0
  if (isEmpty || vanished.length > 0) assertStillThere(fs, context)
  const hasChanged = vanished.length > 0 && !hasOnlyLost(listGuarded(fs, context), listing, new Set(vanished))
  const incomplete = hasChanged || found.problems.length > 0
  return { kind: 'scanned', scope: context.scope, ...findings, uncertain: hasChanged ? vanished : [], incomplete }
}

/** Throws if the directory was moved or replaced, so that its entries do not count as gone. */
function assertStillThere(fs: FileSystem, { root, path, relativePath, options }: ListingContext): void {
  const stats = fs.lstatSync(path, { bigint: true })
  if (!isDirectory(stats)) throw fileError('vanished', relativePath, 'it was replaced by something else')
  if (options.rules.oneFileSystem && stats.dev !== root.device) {
    throw fileError('outside-root', relativePath, 'another file system was mounted there')
  }
}

/** Returns whether the second listing has no new names, and none of the vanished ones. */
function hasOnlyLost(now: Listing, before: Listing, vanished: ReadonlySet<string>): boolean {
  const namesBefore = new Set(before.names)
  return now.names.every((name) => namesBefore.has(name) && !vanished.has(name))
}

// Only Linux has paths (/proc/self/fd) that name the directory of a descriptor.
const FLAGS = constants.O_RDONLY | (constants.O_DIRECTORY ?? 0) | (constants.O_NOFOLLOW ?? 0)
const HAS_DESCRIPTOR_PATHS = process.platform === 'linux'

/** Returns a directory's names, none from outside the root even if a link replaced a directory. Throws FileError `outside-root`. */
export function listGuarded(fs: FileSystem, location: DirectoryLocation): Listing {
  if (!HAS_DESCRIPTOR_PATHS) return listBetweenChecks(fs, location)
  const descriptor = fs.openSync(accessPathOf(location), FLAGS)
  try {
    const descriptorPath = `/proc/self/fd/${descriptor}`
    const realPath = tryReadLink(fs, descriptorPath)
    if (realPath === undefined) return listBetweenChecks(fs, location)
    assertInRoot(realPath, location)
    return readListing(fs, descriptorPath)
  } finally {
    fs.closeSync(descriptor)
  }
}

/** Ends the root's path with `/.`, because `accessPath` itself may be a link (/proc/self/fd). */
function accessPathOf({ root, relativePath }: DirectoryLocation): string {
  return `${root.accessPath}/${relativePath === '' ? '.' : relativePath}`
}

/** Lists a directory by its path. Checks it before and after, so that only an exchange that is undone in between goes unnoticed. */
function listBetweenChecks(fs: FileSystem, location: DirectoryLocation): Listing {
  const path = accessPathOf(location)
  assertInRoot(fs.realpathSync(path), location)
  const listing = readListing(fs, path)
  assertInRoot(isInPlace(fs, location.root) ? fs.realpathSync(path) : undefined, location)
  return listing
}

function assertInRoot(realPath: string | undefined, { root, relativePath }: DirectoryLocation): void {
  if (realPath === root.realPath || isUnder(root.realPath, realPath)) return
  throw fileError('outside-root', relativePath === '' ? '.' : relativePath, "it lies outside the mirror's directory")
}

interface Listing {
  /** In code-unit order. */
  readonly names: readonly string[]
  /** Names that no path can express, with escaped bytes: `caf\xE9.txt`. */
  readonly namesNotUtf8: readonly string[]
}

const REPLACEMENT = '\ufffd'

/** Lists a directory, and again as bytes if a name may not be UTF-8. */
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
