import { systemCodeOf } from '../../foundation/errors.ts'
import { joinPath } from '../../foundation/files/paths.ts'
import { formatSize } from '../../foundation/text/units.ts'
import type { IgnoreScope } from '../ignore/ignore-scope.ts'
import { faultOf } from '../read/file-errors.ts'
import type { FileStats, FileSystem } from '../read/file-system.ts'
import { type FileKind, kindOf } from '../read/fingerprint.ts'
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
  /** Names that were listed, but were gone when they were examined. */
  readonly vanished: string[]
}

const BIGINT = { bigint: true } as const

/** Adds one entry of a listing to the findings: as a file, a directory, ignored, skipped, vanished or a problem. */
export function examineEntry(fs: FileSystem, place: ScanContext, name: string, found: MutableFindings): void {
  let stats: FileStats
  try {
    stats = statsOf(fs, place, name)
  } catch (error) {
    addFault(place, name, error, found)
    return
  }
  const kind = kindOf(stats)
  if (isIgnored(place, name, kind, found)) return
  if (kind === 'file') addFile(place.options, name, stats, found)
  else if (kind === 'directory') addDirectory(place, name, stats, found)
  else found.skipped.push({ name, reason: kind })
}

/** Looks once more through the open root: its real path may lead to something else for a moment. */
function statsOf(fs: FileSystem, { root, path, relativePath }: ScanContext, name: string): FileStats {
  try {
    return fs.lstatSync(`${path}/${name}`, BIGINT)
  } catch {
    return fs.lstatSync(`${root.accessPath}/${joinPath(relativePath, name)}`, BIGINT)
  }
}

function addFault(place: ScanContext, name: string, error: unknown, found: MutableFindings): void {
  if (systemCodeOf(error) === 'ENOENT') found.vanished.push(name)
  else if (!isIgnored(place, name, 'file', found))
    found.problems.push({ name, ...faultOf(error, joinPath(place.relativePath, name)) })
}

function isIgnored(
  { scope, relativePath }: ScanContext,
  name: string,
  kind: FileKind,
  found: MutableFindings,
): boolean {
  const isDirectory = kind === 'directory'
  const decision = scope.decideEntry(relativePath, name, isDirectory)
  if (decision) found.ignored.push({ name, decision, isDirectory })
  return decision !== undefined
}

function addFile(options: ScanOptions, name: string, stats: FileStats, found: MutableFindings): void {
  const { size } = stats
  if (options.maxSizeBytes !== null && size > options.maxSizeBytes) {
    const detail = `${formatSize(Number(size))}, the limit is ${formatSize(options.maxSizeBytes)}`
    found.skipped.push({ name, reason: 'too-large', detail })
  } else if (size === 0n && options.emptyFiles === 'skip') {
    found.skipped.push({ name, reason: 'empty' })
  } else {
    found.files.push(name, stats)
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
