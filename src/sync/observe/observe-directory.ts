import type { Clock } from '../../foundation/clock.ts'
import { FileError } from '../../foundation/errors.ts'
import { isOutOfDescriptors, noDescriptorFree } from '../../local/file-fault.ts'
import type { FileSystem } from '../../local/file-system.ts'
import { hashGuarded } from '../../local/hash-file.ts'
import type { IgnoreScope } from '../../local/ignore-rules.ts'
import { mimeOf } from '../../local/mime.ts'
import { openGuarded } from '../../local/open-guarded.ts'
import {
  type ScannedDirectory,
  type ScannedFile,
  type SkippedEntry,
  scanDirectory,
} from '../../local/scan-directory.ts'
import { isAtRest } from '../../rules/at-rest.ts'
import { compareDirectory, isRacyHash } from '../../rules/compare-directory.ts'
import { findLookAlikes } from '../../rules/look-alikes.ts'
import { sealDirectory } from '../../rules/seal-directory.ts'
import { describeSkipped, skipProblem } from '../../rules/skipped-entry.ts'
import type { ComparedRow, FormerReason } from '../../store/files.ts'
import type { MissingFile, ObservationBatch, ObservedFile, PathProblem, WalkOptions } from './observation.ts'

export interface Observer {
  readonly fs: FileSystem
  readonly clock: Clock
  readonly options: WalkOptions
  /** True when the store has this seal for the directory. */
  readonly isSealed: (path: string, seal: Uint8Array) => boolean
  /** What the store knows of a directory's files. */
  readonly listKnown: (path: string) => readonly ComparedRow[]
  /** What the store knows of one file. */
  readonly findKnown: (path: string, name: string) => ComparedRow | undefined
  readonly scratch: Uint8Array
}

export interface ChildDirectory {
  readonly path: string
  readonly scope: IgnoreScope
}

/** Scans one directory, hashes what isn't proven unchanged, adds the result to `batch` and gives the directories below. */
export function observeDirectory(
  observer: Observer,
  directory: ChildDirectory,
  batch: ObservationBatch,
): ChildDirectory[] {
  const { fs, options } = observer
  const scan = scanDirectory(fs, options.rootRealPath, directory.path, directory.scope, {
    ...options,
    symlinks: 'skip',
  })
  if (scan.kind === 'unreadable') {
    batch.unreadable.push(directory.path)
    if (scan.code !== 'ENOENT')
      batch.problems.push({ path: directory.path, code: problemCodeOf(scan.code), message: scan.message })
    return []
  }
  batch.directories.push(directory.path)
  noteLeftOut(options, directory.path, scan, batch)
  noteFiles(observer, directory.path, scan, batch)
  const children = scan.directories.map((name) => ({ path: pathBelow(directory.path, name), scope: scan.scope }))
  return options.ownDirectories.length === 0 ? children : leaveOutOwn(options, children, batch)
}

/** Reading our own open databases would drop their locks (POSIX: any close of the file does), and never come to rest. */
function leaveOutOwn(
  { ownDirectories, listIgnored }: WalkOptions,
  children: readonly ChildDirectory[],
  batch: ObservationBatch,
): ChildDirectory[] {
  const isOwn = ({ path }: ChildDirectory) => ownDirectories.includes(path)
  for (const { path } of children.filter(isOwn)) {
    batch.counts.ignored += 1
    batch.ignoredDirectories.push(path)
    if (listIgnored) batch.leftOut.push({ path, reason: OWN_DIRECTORY })
  }
  return children.filter((child) => !isOwn(child))
}

export const OWN_DIRECTORY = 'it holds the data of shelfd itself'

export function pathBelow(directory: string, name: string): string {
  return directory === '' ? name : `${directory}/${name}`
}

function noteFiles(observer: Observer, path: string, scan: ScannedDirectory, batch: ObservationBatch): void {
  if (!observer.options.hashEverything && observer.isSealed(path, sealDirectory(scan.files))) {
    batch.counts.unchanged += scan.files.length
    return
  }
  const known = observer.listKnown(path)
  const { unchangedCount, unproven, missing } = compareDirectory(scan.files, known, observer.options.hashEverything)
  batch.counts.unchanged += unchangedCount
  noteLookAlikes(path, scan.files, unproven, batch)
  const files = readUnproven(observer, path, unproven, batch)
  const missingFiles = scan.incomplete ? [] : reasonMissing(scan, missing)
  const isProven = files.length === unproven.length && missingFiles.length === missing.length
  // What was examined entry by entry left its directory without a seal.
  const isUnsealed = isProven && known.length > 0
  if (files.length > 0 || missingFiles.length > 0 || isUnsealed) {
    const seal = isProven ? sealOf(scan, files) : null
    batch.observations.push({ path, files, missing: missingFiles, seal })
  }
}

function noteLookAlikes(
  directory: string,
  files: readonly ScannedFile[],
  unproven: readonly { readonly file: ScannedFile; readonly isKnown: boolean }[],
  batch: ObservationBatch,
): void {
  const fresh = new Set(unproven.flatMap(({ file, isKnown }) => (isKnown ? [] : [file.name])))
  if (fresh.size === 0) return
  const names = files.map(({ name }) => name)
  const alike = findLookAlikes(names, (name) => fresh.has(name))
  if (alike === undefined) return
  const { count, first, second } = alike
  batch.alike.push({ count, path: pathBelow(directory, first), other: pathBelow(directory, second) })
}

/** Reads what isn't proven unchanged; what has not rested is only noted. */
export function readUnproven(
  observer: Observer,
  directory: string,
  unproven: readonly { readonly file: ScannedFile; readonly isKnown: boolean }[],
  batch: ObservationBatch,
): ObservedFile[] {
  const { clock, options } = observer
  const { settleMs } = options
  const files: ObservedFile[] = []
  for (const { file, isKnown } of unproven) {
    const path = pathBelow(directory, file.name)
    if (settleMs !== null && !isAtRest(file.fingerprint, clock.nowMs(), settleMs)) {
      batch.unrested.push({ path, isKnown, fingerprint: file.fingerprint })
      continue
    }
    const observed = readFile(observer, path, file.name, isKnown, batch)
    if (observed) files.push(observed)
  }
  return files
}

function sealOf(scan: ScannedDirectory, observed: readonly ObservedFile[]): Uint8Array | null {
  if (observed.some(({ isRacy }) => isRacy)) return null
  // What was hashed may be newer than what was listed.
  const newest = new Map(observed.map((file) => [file.name, file]))
  return sealDirectory(
    scan.files.map(({ name, fingerprint }) => ({ name, fingerprint: newest.get(name) ?? fingerprint })),
  )
}

function readFile(
  { fs, clock, options, scratch }: Observer,
  path: string,
  name: string,
  isKnown: boolean,
  batch: ObservationBatch,
): ObservedFile | undefined {
  try {
    using opened = openGuarded(fs, options.rootRealPath, path)
    const hashedAtMs = clock.nowMs()
    const { sha256, sizeBytes } = hashGuarded(fs, opened, scratch)
    batch.counts.hashed += 1
    batch.counts.bytesHashed += sizeBytes
    const isRacy = isRacyHash(opened.fingerprint, hashedAtMs)
    return { name, isKnown, ...opened.fingerprint, isRacy, sha256, mime: mimeOf(name) }
  } catch (error) {
    if (error instanceof FileError && error.code === 'vanished') return undefined
    const fault = isOutOfDescriptors(error) ? noDescriptorFree(path) : error
    if (!(fault instanceof FileError)) throw fault
    batch.problems.push({ path, code: fault.code, message: fault.message })
    return undefined
  }
}

function reasonMissing(scan: ScannedDirectory, names: readonly string[]): MissingFile[] {
  if (names.length === 0) return []
  const withProblem = new Set(scan.problems.map(({ name }) => name))
  const reasons = new Map<string, FormerReason>()
  for (const { name } of [...scan.ignored, ...scan.skipped]) reasons.set(name, 'ignored')
  return names.filter((name) => !withProblem.has(name)).map((name) => ({ name, reason: reasons.get(name) ?? 'gone' }))
}

/** Those of the skipped entries that somebody must resolve. */
export function listSkipProblems(directory: string, skipped: readonly SkippedEntry[]): PathProblem[] {
  return skipped.flatMap((entry) => {
    const problem = skipProblem(entry)
    if (problem === undefined) return []
    return [{ path: pathBelow(directory, entry.name), code: problem.code, message: problem.message }]
  })
}

/** A stable code for what a scan met: the system's codes are in capitals, ours are not. */
export function problemCodeOf(code: string): string {
  if (code === 'EACCES' || code === 'EPERM') return 'unreadable'
  return code === code.toUpperCase() ? 'io-error' : code
}

function noteLeftOut(options: WalkOptions, path: string, scan: ScannedDirectory, batch: ObservationBatch): void {
  const { counts } = batch
  for (const { name, decision, isDirectory } of scan.ignored) {
    counts.ignored += 1
    if (decision.secret) counts.secrets += 1
    if (isDirectory) batch.ignoredDirectories.push(pathBelow(path, name))
    if (options.listIgnored) {
      const where = decision.line === null ? decision.source : `${decision.source}:${decision.line}`
      batch.leftOut.push({ path: pathBelow(path, name), reason: `${decision.pattern} (${where})` })
    }
  }
  for (const entry of scan.skipped) {
    const problem = skipProblem(entry)
    if (problem === undefined) counts.ignored += 1
    else if (problem.isUnsupported) counts.unsupported += 1
    if (options.listIgnored && problem === undefined) {
      batch.leftOut.push({ path: pathBelow(path, entry.name), reason: describeSkipped(entry) })
    }
  }
  batch.problems.push(...listSkipProblems(path, scan.skipped))
  for (const { name, code, message } of scan.problems) {
    batch.problems.push({ path: pathBelow(path, name), code: problemCodeOf(code), message })
  }
}
