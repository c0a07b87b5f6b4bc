import { readListedIgnoreFile } from '../ignore/ignore-files.ts'
import { IGNORE_FILE_NAME, type IgnoreScope } from '../ignore/ignore-scope.ts'
import { faultOf, fileError } from '../read/file-errors.ts'
import { type FileSystem, isDirectory } from '../read/file-system.ts'
import type { RootPlace } from '../read/inspect-root.ts'
import { type Listing, listGuarded } from './list-guarded.ts'
import {
  type DirectoryListing,
  type ListedDirectory,
  type ListingContext,
  type ListOptions,
  noFindings,
  statEntry,
} from './stat-entry.ts'

/**
 * Lists one directory, not those below it, with the state of each entry. `relativePath` is '' for the root itself, and `scope` belongs to the directory above
 * (createRootScope for the root). Names are listed through the open root. The state of entries is read by their real paths, which takes
 * half the time: of another root they would be gone or differ, and what differs is read through the open root as well.
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
    const hasIgnoreFile = listing.names.includes(IGNORE_FILE_NAME)
    const ownRules = hasIgnoreFile ? readListedIgnoreFile(fs, root, relativePath) : undefined
    return scanListing(fs, { ...directory, scope: scope.enter(relativePath, ownRules), options }, listing)
  } catch (error) {
    return { kind: 'unreadable', ...faultOf(error, relativePath === '' ? '.' : relativePath) }
  }
}

function scanListing(fs: FileSystem, place: ListingContext, listing: Listing): ListedDirectory {
  const found = noFindings(listing.names.length)
  for (const name of listing.namesNotUtf8) found.skipped.push({ name, reason: 'name-not-utf8' })
  for (const name of listing.names) statEntry(fs, place, name, found)
  const { vanished, ...findings } = found
  const isEmpty = listing.names.length === 0
  if (isEmpty || vanished.length > 0) assertStillThere(fs, place)
  const hasChanged = vanished.length > 0 && !isPlainLoss(listGuarded(fs, place), listing, new Set(vanished))
  const incomplete = hasChanged || found.problems.length > 0
  return { kind: 'scanned', scope: place.scope, ...findings, uncertain: hasChanged ? vanished : [], incomplete }
}

/** Throws when the directory was moved away, or when a link or another file system took its place: it looks empty but is not. */
function assertStillThere(fs: FileSystem, { root, path, relativePath, options }: ListingContext): void {
  const stats = fs.lstatSync(path, { bigint: true })
  if (!isDirectory(stats)) throw fileError('vanished', relativePath, 'it was replaced by something else')
  if (options.rules.oneFileSystem && stats.dev !== root.device) {
    throw fileError('outside-root', relativePath, 'another file system was mounted there')
  }
}

/** Returns whether the second listing has the entries of the first without those that vanished, and no others. */
function isPlainLoss(now: Listing, before: Listing, vanished: ReadonlySet<string>): boolean {
  const known = new Set(before.names)
  return now.names.every((name) => known.has(name) && !vanished.has(name))
}
