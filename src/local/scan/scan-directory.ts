import { IGNORE_FILE_NAME, type IgnoreScope } from '../ignore/ignore-scope.ts'
import { readListedIgnoreFile } from '../ignore/read-ignore-file.ts'
import { faultOf, fileError } from '../read/file-errors.ts'
import type { FileSystem } from '../read/file-system.ts'
import { isDirectory } from '../read/fingerprint.ts'
import type { RootPlace } from '../read/inspect-root.ts'
import { examineEntry, type MutableFindings, type ScanContext } from './examine-entry.ts'
import { listGuarded } from './list-guarded.ts'
import type { Listing } from './read-listing.ts'
import type { DirectoryScan, ScannedDirectory, ScanOptions } from './scan-result.ts'
import { ScannedFiles } from './scanned-files.ts'

export type * from './scan-result.ts'

/**
 * Scans one directory, not those below it. `relativePath` is '' for the root itself, and `scope` belongs to the directory above
 * (createRootScope for the root). Names are listed through the open root. Entries are examined by their real paths, which takes
 * half the time: of another root they would be gone or differ, and what differs is read through the open root as well.
 */
export function scanDirectory(
  fs: FileSystem,
  root: RootPlace,
  relativePath: string,
  scope: IgnoreScope,
  options: ScanOptions,
): DirectoryScan {
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

function scanListing(fs: FileSystem, place: ScanContext, listing: Listing): ScannedDirectory {
  const skipped: MutableFindings['skipped'] = listing.namesNotUtf8.map((name) => ({ name, reason: 'name-not-utf8' }))
  const found: MutableFindings = {
    files: new ScannedFiles(listing.names.length),
    directories: [],
    ignored: [],
    skipped,
    problems: [],
    vanished: [],
  }
  for (const name of listing.names) examineEntry(fs, place, name, found)
  const { vanished, ...findings } = found
  const isEmpty = listing.names.length === 0
  if (isEmpty || vanished.length > 0) assertStillThere(fs, place)
  const hasChanged = vanished.length > 0 && !isPlainLoss(listGuarded(fs, place), listing, new Set(vanished))
  const incomplete = hasChanged || found.problems.length > 0
  return { kind: 'scanned', scope: place.scope, ...findings, uncertain: hasChanged ? vanished : [], incomplete }
}

/** Throws when the directory was moved away, or when a link or another file system took its place: it looks empty but is not. */
function assertStillThere(fs: FileSystem, { root, path, relativePath, options }: ScanContext): void {
  const stats = fs.lstatSync(path, { bigint: true })
  if (!isDirectory(stats)) throw fileError('vanished', relativePath, 'it was replaced by something else')
  if (options.oneFileSystem && stats.dev !== root.device) {
    throw fileError('outside-root', relativePath, 'another file system was mounted there')
  }
}

/** Whether the second listing has the entries of the first without those that vanished, and no others. */
function isPlainLoss(now: Listing, before: Listing, vanished: ReadonlySet<string>): boolean {
  const known = new Set(before.names)
  return now.names.every((name) => known.has(name) && !vanished.has(name))
}
