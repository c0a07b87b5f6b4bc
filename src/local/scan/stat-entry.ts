import { systemCodeOf } from '../../foundation/errors.ts'
import { joinPath } from '../../foundation/files/paths.ts'
import { formatSize } from '../../foundation/text/units.ts'
import { type DirectoryDigestInput, NUMBERS_PER_FILE } from '../../rules/compare-directory.ts'
import type { SkipReason } from '../../rules/path-problems.ts'
import type { IgnoreDecision, IgnoreScope, ScanRules } from '../ignore/ignore-scope.ts'
import { fileProblemOf, noAnswer } from '../read/file-errors.ts'
import {
  BIGINT,
  type FileKind,
  type FileStats,
  type FileSystem,
  type Fingerprint,
  fingerprintOf,
  kindOf,
} from '../read/file-system.ts'
import type { RootPlace } from '../read/open-and-recheck-root.ts'

export interface ListOptions {
  readonly rules: ScanRules
  readonly onFile?: (() => void) | undefined
  /** Mount points, relative to the root, of file systems that do not answer: no call is made on them. */
  readonly silent?: readonly string[] | undefined
}

export interface IgnoredEntry {
  readonly name: string
  readonly decision: IgnoreDecision
  readonly isDirectory: boolean
}

export interface SkippedEntry {
  /** Bytes that are not UTF-8 are escaped: `caf\xE9.txt`. */
  readonly name: string
  readonly reason: SkipReason
  readonly detail?: string
}

export interface DirectoryLocation {
  readonly root: RootPlace
  readonly relativePath: string
}

/** The code of the system (`EACCES`) or of a FileError, and a message. */
interface Fault {
  readonly code: string
  readonly message: string
}

interface EntryProblem extends Fault {
  readonly name: string
}

interface Findings {
  readonly files: ListedFiles
  readonly directories: readonly string[]
  readonly ignored: readonly IgnoredEntry[]
  readonly skipped: readonly SkippedEntry[]
  readonly problems: readonly EntryProblem[]
}

export interface ListedDirectory extends Findings {
  readonly kind: 'scanned'
  readonly scope: IgnoreScope
  /** Names of files or directories that were gone when their state was read, and may come back. */
  readonly uncertain: readonly string[]
  /** True if something was unreadable or changed, so that a file that is not listed may exist. */
  readonly incomplete: boolean
}

/** An unreadable directory does not count as empty, because its contents are unknown. */
export type DirectoryListing = ListedDirectory | (Fault & { readonly kind: 'unreadable' })

export interface ListedFile {
  readonly name: string
  readonly fingerprint: Fingerprint
}

const PORTION_SIZE = 4_096

/** Stores files in columns. The digest of most directories shows that they are unchanged, and then no objects are created. */
export class ListedFiles implements Iterable<ListedFile>, DirectoryDigestInput {
  readonly names: string[] = []
  readonly numbers: BigInt64Array

  constructor(maxFiles: number) {
    this.numbers = new BigInt64Array(maxFiles * NUMBERS_PER_FILE)
  }

  get length(): number {
    return this.names.length
  }

  push(name: string, { sizeBytes, mtimeNs, ctimeNs, inode }: Fingerprint): void {
    const { numbers, names } = this
    const at = names.length * NUMBERS_PER_FILE
    numbers[at] = BigInt(sizeBytes)
    numbers[at + 1] = mtimeNs
    numbers[at + 2] = ctimeNs
    numbers[at + 3] = inode
    names.push(name)
  }

  *portions(): Generator<readonly ListedFile[]> {
    for (let start = 0; start < this.length; start += PORTION_SIZE) {
      yield this.names.slice(start, start + PORTION_SIZE).map((name, index) => this.#fileAt(name, start + index))
    }
  }

  *[Symbol.iterator](): Generator<ListedFile> {
    for (const portion of this.portions()) yield* portion
  }

  #fileAt(name: string, index: number): ListedFile {
    const [size = 0n, mtimeNs = 0n, ctimeNs = 0n, inode = 0n] = this.numbers.subarray(index * NUMBERS_PER_FILE)
    return { name, fingerprint: { sizeBytes: Number(size), mtimeNs, ctimeNs, inode } }
  }
}

/** A directory that is listed. */
export interface ListingContext extends DirectoryLocation {
  /** The real path. */
  readonly path: string
  readonly scope: IgnoreScope
  readonly options: ListOptions
}

export interface MutableFindings extends Findings {
  readonly directories: string[]
  readonly ignored: IgnoredEntry[]
  readonly skipped: SkippedEntry[]
  readonly problems: EntryProblem[]
  readonly vanished: string[]
}

export function noFindings(maxFiles: number): MutableFindings {
  return { files: new ListedFiles(maxFiles), directories: [], ignored: [], skipped: [], problems: [], vanished: [] }
}

/** Reads the state of one entry and adds the entry to `found`. */
export function statEntry(fs: FileSystem, context: ListingContext, name: string, found: MutableFindings): void {
  if (context.options.silent?.includes(joinPath(context.relativePath, name))) {
    addSilent(context, name, found)
    return
  }
  let stats: FileStats
  try {
    stats = statsOf(fs, context, name)
  } catch (error) {
    addFault(context, name, error, found)
    return
  }
  const kind = kindOf(stats)
  if (recordIfIgnored(context, name, kind, found)) return
  if (kind === 'file') addFile(context.options, name, stats, found)
  else if (kind === 'directory') addDirectory(context, name, stats, found)
  else found.skipped.push({ name, reason: kind })
}

/** Reads by the real path and, if that fails, through the open root, because the real path may lead elsewhere for a moment. */
function statsOf(fs: FileSystem, { root, path, relativePath }: ListingContext, name: string): FileStats {
  try {
    return fs.lstatSync(`${path}/${name}`, BIGINT)
  } catch {
    return fs.lstatSync(`${root.accessPath}/${joinPath(relativePath, name)}`, BIGINT)
  }
}

/** Adds a mount point that does not answer: a directory on another file system. */
function addSilent(context: ListingContext, name: string, found: MutableFindings): void {
  if (recordIfIgnored(context, name, 'directory', found)) return
  if (context.options.rules.oneFileSystem) found.skipped.push({ name, reason: 'other-file-system' })
  else found.problems.push({ name, ...fileProblemOf(noAnswer('lstat', []), joinPath(context.relativePath, name)) })
}

function addFault(context: ListingContext, name: string, error: unknown, found: MutableFindings): void {
  if (systemCodeOf(error) === 'ENOENT') found.vanished.push(name)
  else if (!recordIfIgnored(context, name, 'file', found))
    found.problems.push({ name, ...fileProblemOf(error, joinPath(context.relativePath, name)) })
}

/** Returns whether the rules ignore an entry, and then adds it to `found.ignored`. */
export function recordIfIgnored(
  { scope, relativePath }: ListingContext,
  name: string,
  kind: FileKind,
  found: MutableFindings,
): boolean {
  const isDirectory = kind === 'directory'
  const decision = scope.decideEntry(relativePath, name, isDirectory)
  if (decision) found.ignored.push({ name, decision, isDirectory })
  return decision !== undefined
}

function addFile({ rules, onFile }: ListOptions, name: string, stats: FileStats, found: MutableFindings): void {
  const { size } = stats
  const { maxSizeBytes, emptyFiles } = rules
  if (maxSizeBytes !== null && size > maxSizeBytes) {
    const detail = `${formatSize(Number(size))}, the limit is ${formatSize(maxSizeBytes)}`
    found.skipped.push({ name, reason: 'too-large', detail })
  } else if (size === 0n && emptyFiles === 'skip') {
    found.skipped.push({ name, reason: 'empty' })
  } else {
    found.files.push(name, fingerprintOf(stats))
    onFile?.()
  }
}

function addDirectory({ root, options }: ListingContext, name: string, stats: FileStats, found: MutableFindings): void {
  if (options.rules.oneFileSystem && stats.dev !== root.device) {
    found.skipped.push({ name, reason: 'other-file-system' })
  } else {
    found.directories.push(name)
  }
}
