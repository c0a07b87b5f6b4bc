import { systemCodeOf } from '../../foundation/errors.ts'
import { joinPath } from '../../foundation/files/paths.ts'
import { formatSize } from '../../foundation/text/units.ts'
import type { SkipReason } from '../../rules/observe/skipped-entry.ts'
import type { IgnoreScope } from '../ignore/ignore-scope.ts'
import { faultOf } from '../read/file-errors.ts'
import type { DirectoryEntry, FileStats, FileSystem } from '../read/file-system.ts'
import { fingerprintOf, isDirectory, isRegularFile } from '../read/fingerprint.ts'
import type { DirectoryLocation } from './list-guarded.ts'
import type { EntryProblem, Findings, IgnoredEntry, ScanOptions, SkippedEntry } from './scan-result.ts'

/** The directory that is scanned: its real path, and the rules and options for its entries. */
export interface ScanContext extends DirectoryLocation {
  readonly path: string
  readonly scope: IgnoreScope
  readonly options: ScanOptions
}

/** Findings to which examineEntry adds. */
export interface MutableFindings extends Findings {
  readonly directories: string[]
  readonly ignored: IgnoredEntry[]
  readonly skipped: SkippedEntry[]
  readonly problems: EntryProblem[]
  /** Names that were listed, but were gone or of another kind when they were examined. */
  readonly vanished: string[]
}

/** Adds one entry of a listing to the findings: as a file, a directory, ignored, skipped, vanished or a problem. */
export function examineEntry(
  fs: FileSystem,
  place: ScanContext,
  entry: DirectoryEntry<string>,
  found: MutableFindings,
): void {
  const { name } = entry
  const isFile = entry.isFile()
  const isFolder = entry.isDirectory()
  const decision = place.scope.decideEntry(place.relativePath, name, isFolder)
  if (decision) {
    found.ignored.push({ name, decision, isDirectory: isFolder })
  } else if (isFile || isFolder) {
    const stats = lstatEntry(fs, place, name, found)
    if (stats === undefined) return
    if (isFile ? !isRegularFile(stats) : !isDirectory(stats)) found.vanished.push(name)
    else if (isFile) addFile(place.options, name, stats, found)
    else addDirectory(place, name, stats, found)
  } else {
    found.skipped.push({ name, reason: kindOf(entry) })
  }
}

const BIGINT = { bigint: true } as const

function lstatEntry(fs: FileSystem, place: ScanContext, name: string, found: MutableFindings): FileStats | undefined {
  try {
    return statsOf(fs, place, name)
  } catch (error) {
    if (systemCodeOf(error) === 'ENOENT') found.vanished.push(name)
    else found.problems.push({ name, ...faultOf(error, joinPath(place.relativePath, name)) })
    return undefined
  }
}

/** Looks once more through the open root: its real path may lead to something else for a moment. */
function statsOf(fs: FileSystem, { root, path, relativePath }: ScanContext, name: string): FileStats {
  try {
    return fs.lstatSync(`${path}/${name}`, BIGINT)
  } catch {
    return fs.lstatSync(`${root.accessPath}/${joinPath(relativePath, name)}`, BIGINT)
  }
}

function addFile(options: ScanOptions, name: string, stats: FileStats, found: MutableFindings): void {
  const fingerprint = fingerprintOf(stats)
  const { sizeBytes } = fingerprint
  if (options.maxSizeBytes !== null && sizeBytes > options.maxSizeBytes) {
    const detail = `${formatSize(sizeBytes)}, the limit is ${formatSize(options.maxSizeBytes)}`
    found.skipped.push({ name, reason: 'too-large', detail })
  } else if (sizeBytes === 0 && options.emptyFiles === 'skip') {
    found.skipped.push({ name, reason: 'empty' })
  } else {
    found.files.push({ name, fingerprint })
    options.onFile?.()
  }
}

function addDirectory({ root, options }: ScanContext, name: string, stats: FileStats, found: MutableFindings): void {
  if (options.oneFileSystem && stats.dev !== root.device) {
    found.skipped.push({ name, reason: 'other-file-system' })
  } else {
    found.directories.push(name)
  }
}

function kindOf(entry: DirectoryEntry<string>): SkipReason {
  if (entry.isSymbolicLink()) return 'symlink'
  if (entry.isSocket()) return 'socket'
  return entry.isFIFO() ? 'pipe' : 'device'
}
