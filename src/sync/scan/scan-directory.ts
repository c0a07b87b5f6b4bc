import { mimeOf } from '../../contract/mime.ts'
import type { Clock } from '../../foundation/clock.ts'
import { FileError } from '../../foundation/errors.ts'
import { joinPath } from '../../foundation/files/paths.ts'
import { descend, readIgnoreFile } from '../../local/ignore/ignore-files.ts'
import { createRootScope, type IgnoreDecision, type IgnoreScope } from '../../local/ignore/ignore-scope.ts'
import { findSecret } from '../../local/ignore/secret-contents.ts'
import { UnmatchedPatterns } from '../../local/ignore/selection.ts'
import { isOutOfDescriptors, noDescriptorFree } from '../../local/read/file-errors.ts'
import { type FileSystem, type Fingerprint, sameFingerprint } from '../../local/read/file-system.ts'
import { openGuarded } from '../../local/read/open-guarded.ts'
import { hashGuarded } from '../../local/read/read-verified.ts'
import { listDirectory } from '../../local/scan/list-directory.ts'
import {
  type IgnoredEntry,
  type ListedDirectory,
  type ListedFile,
  ListedFiles,
  type SkippedEntry,
} from '../../local/scan/stat-entry.ts'
import { comparePortion, digestDirectory, isRacyHash, rowsByName } from '../../rules/compare-directory.ts'
import { findLookAlikes } from '../../rules/look-alikes.ts'
import { describeSkipped, kindOfSkipped, skipProblem } from '../../rules/path-problems.ts'
import type { PathProblem } from '../../rules/problem-groups.ts'
import { isSettled } from '../../rules/settled-files.ts'
import type { StoreReader } from '../../store/open-store.ts'
import type { ComparedRow, HistoryReason } from '../../store/tables/files.ts'
import { BatchCollector, type HashedFile, type MissingFile, type ScanBatch, type WalkOptions } from './scan-batch.ts'

export interface Scanner {
  readonly fs: FileSystem
  readonly clock: Clock
  readonly options: WalkOptions
  readonly unmatched: UnmatchedPatterns
  readonly hasDigest: (path: string, digest: Uint8Array) => boolean
  /** Returns the store's rows of the files of a directory. */
  readonly listStored: (path: string) => readonly ComparedRow[]
  readonly findStored: (path: string, name: string) => ComparedRow | undefined
  /** Called for each file that a listing finds. */
  readonly countFile?: () => void
}

export interface ChildDirectory {
  readonly path: string
  readonly scope: IgnoreScope
}

/** Hashes the files of a directory that are not proven unchanged, and returns its subdirectories. Yields the batches that become full. */
export function* scanDirectory(
  scanner: Scanner,
  directory: ChildDirectory,
  batches: BatchCollector,
): Generator<ScanBatch, ChildDirectory[]> {
  const { fs, options } = scanner
  const { batch } = batches
  const scan = listDirectory(fs, options.root, directory.path, directory.scope, {
    rules: options.rules,
    onFile: scanner.countFile,
    silent: options.silent,
  })
  if (scan.kind === 'unreadable') {
    batch.unreadable.push(directory.path)
    if (scan.code !== 'ENOENT')
      batch.problems.push({ path: directory.path, code: problemCodeOf(scan.code), message: scan.message })
    return []
  }
  batch.directories.push(directory.path)
  batch.matched.push(...scanner.unmatched.takeMatching(directory.path, namesOf(scan)))
  for (const name of scan.uncertain) batch.unreadable.push(joinPath(directory.path, name))
  addLeftOut(options, directory.path, scan, batch)
  yield* addFiles(scanner, directory.path, scan, batches)
  const children = scan.directories.map((name) => ({ path: joinPath(directory.path, name), scope: scan.scope }))
  return options.ownDirectories.length === 0 ? children : excludeOwn(options, children, batches.batch)
}

function* namesOf({ files, skipped, problems }: ListedDirectory): Generator<string> {
  yield* files.names
  for (const { name } of [...skipped, ...problems]) yield name
}

/** Leaves out the program's own directories: reading its open databases would release their locks (POSIX), and they never settle. */
function excludeOwn(
  { ownDirectories, listIgnored }: WalkOptions,
  children: readonly ChildDirectory[],
  batch: ScanBatch,
): ChildDirectory[] {
  const isOwn = ({ path }: ChildDirectory) => ownDirectories.includes(path)
  for (const { path } of children.filter(isOwn)) {
    batch.counts.ignored += 1
    batch.ignoredDirectories.push(path)
    if (listIgnored) batch.leftOut.push({ path, kind: 'ignored', reason: OWN_DIRECTORY })
  }
  return children.filter((child) => !isOwn(child))
}

export const OWN_DIRECTORY = 'it holds the data of shelfd itself'

function* addFiles(
  scanner: Scanner,
  path: string,
  scan: ListedDirectory,
  batches: BatchCollector,
): Generator<ScanBatch, void> {
  const { hashEverything } = scanner.options
  if (!hashEverything && scanner.hasDigest(path, digestDirectory(scan.files))) {
    batches.batch.counts.unchanged += scan.files.length
    return
  }
  const rows = rowsByName(scanner.listStored(path))
  const hasRows = rows.size > 0
  addLookAlikes(path, scan.files, rows, batches.batch)
  const newer = new Map<string, Fingerprint>()
  let hasReadAll = true
  let hasRacy = false
  let files: HashedFile[] = []
  const secrets: SecretFile[] = []
  for (const portion of scan.files.portions()) {
    if (files.length > 0) batches.batch.changes.push({ path, files, missing: [], digest: null })
    if (batches.isFull) yield batches.take()
    const { unchangedCount, unproven } = comparePortion(portion, rows, hashEverything)
    batches.batch.counts.unchanged += unchangedCount
    const read = readUnproven(scanner, path, scan.scope, unproven, batches.batch)
    files = read.files
    secrets.push(...read.secrets)
    hasReadAll &&= files.length === unproven.length
    hasRacy ||= files.some(({ isRacy }) => isRacy)
    for (const file of listChanged(unproven, files)) newer.set(file.name, file)
  }
  const missing = [...rows.keys()]
  const missingFiles = scan.incomplete ? [] : explainMissing(scan, missing)
  for (const { name, isInStore } of secrets) if (isInStore) missingFiles.push({ name, reason: 'ignored' })
  const isProven = hasReadAll && missingFiles.length === missing.length
  // The directory may have no digest, since a rescan of single files removes it.
  const lacksDigest = isProven && hasRows
  if (files.length > 0 || missingFiles.length > 0 || lacksDigest) {
    // A hash that was taken too soon after a change does not prove the file unchanged later.
    const digest = isProven && !hasRacy ? digestDirectory(asHashed(scan.files, newer)) : null
    batches.batch.changes.push({ path, files, missing: missingFiles, digest })
  }
}

function listChanged(unproven: Unproven, hashed: readonly HashedFile[]): HashedFile[] {
  const listed = new Map(unproven.map(({ file }) => [file.name, file.fingerprint]))
  return hashed.filter((file) => {
    const before = listed.get(file.name)
    return before === undefined || !sameFingerprint(before, file)
  })
}

function asHashed(listed: ListedFiles, newer: ReadonlyMap<string, Fingerprint>): ListedFiles {
  if (newer.size === 0) return listed
  const hashed = new ListedFiles(listed.length)
  for (const { name, fingerprint } of listed) hashed.push(name, newer.get(name) ?? fingerprint)
  return hashed
}

function addLookAlikes(
  directory: string,
  files: ListedFiles,
  rows: ReadonlyMap<string, ComparedRow>,
  batch: ScanBatch,
): void {
  const alike = findLookAlikes(files.names, (name) => !rows.has(name))
  if (alike === undefined) return
  const { count, first, second } = alike
  batch.alike.push({ count, path: joinPath(directory, first), other: joinPath(directory, second) })
}

type Unproven = readonly { readonly file: ListedFile; readonly isInStore: boolean }[]

/** A file that is left out because its content looks like a secret. */
interface SecretFile {
  readonly name: string
  readonly isInStore: boolean
}

/**
 * Hashes files that are not proven unchanged. Adds unsettled files to the batch without reading them. Leaves out files whose content
 * looks like a secret, unless an ignore rule with `!` names them.
 */
export function readUnproven(
  scanner: Scanner,
  directory: string,
  scope: IgnoreScope,
  unproven: Unproven,
  batch: ScanBatch,
): { readonly files: HashedFile[]; readonly secrets: SecretFile[] } {
  const { clock, options } = scanner
  const { settleMs } = options
  const files: HashedFile[] = []
  const secrets: SecretFile[] = []
  for (const { file, isInStore } of unproven) {
    const path = joinPath(directory, file.name)
    if (settleMs !== null && !isSettled(file.fingerprint, clock.nowMs(), settleMs)) {
      batch.unsettled.push({ path, isInStore, fingerprint: file.fingerprint })
      continue
    }
    const hashed = readFile(scanner, path, file.name, isInStore, batch)
    if (hashed === undefined) continue
    if (hashed.secret !== undefined && !scope.bringsBack(directory, file.name)) {
      secrets.push({ name: file.name, isInStore })
      addIgnored(options, directory, [{ name: file.name, decision: hashed.secret, isDirectory: false }], batch)
      continue
    }
    batch.counts.hashed += 1
    batch.counts.bytesHashed += hashed.file.sizeBytes
    files.push(hashed.file)
  }
  return { files, secrets }
}

const DIGEST_BYTES = 32
const DIGESTS = 256
let digests = new Uint8Array(0)

/** Copies a digest into a buffer for many: one buffer each would take ten times the memory, here and in the receiving thread. */
function copyDigest(digest: Uint8Array): Uint8Array {
  if (digests.length < DIGEST_BYTES) digests = new Uint8Array(DIGESTS * DIGEST_BYTES)
  const copy = digests.subarray(0, DIGEST_BYTES)
  copy.set(digest)
  digests = digests.subarray(DIGEST_BYTES)
  return copy
}

function readFile(
  { fs, clock, options }: Scanner,
  path: string,
  name: string,
  isInStore: boolean,
  batch: ScanBatch,
): { readonly file: HashedFile; readonly secret: IgnoreDecision | undefined } | undefined {
  try {
    using opened = openGuarded(fs, options.root, path)
    const hashedAtMs = clock.nowMs()
    let secret: IgnoreDecision | undefined
    const onBeginning = (bytes: Uint8Array) => {
      secret = findSecret(bytes)
    }
    const { sha256 } = hashGuarded(fs, opened, { onBeginning })
    const isRacy = isRacyHash(opened.fingerprint, hashedAtMs)
    const file = { name, isInStore, ...opened.fingerprint, isRacy, sha256: copyDigest(sha256), mime: mimeOf(name) }
    return { file, secret }
  } catch (error) {
    if (error instanceof FileError && error.code === 'vanished') return undefined
    const fault = isOutOfDescriptors(error) ? noDescriptorFree(path) : error
    if (!(fault instanceof FileError)) throw fault
    batch.problems.push({ path, code: fault.code, message: fault.message })
    return undefined
  }
}

function explainMissing(scan: ListedDirectory, names: readonly string[]): MissingFile[] {
  if (names.length === 0) return []
  const withProblem = new Set(scan.problems.map(({ name }) => name))
  const reasons = new Map<string, HistoryReason>()
  for (const { name } of [...scan.ignored, ...scan.skipped]) reasons.set(name, 'ignored')
  return names.filter((name) => !withProblem.has(name)).map((name) => ({ name, reason: reasons.get(name) ?? 'gone' }))
}

export function listSkipProblems(directory: string, skipped: readonly SkippedEntry[]): PathProblem[] {
  return skipped.flatMap((entry) => {
    const problem = skipProblem(entry)
    if (problem === undefined) return []
    return [{ path: joinPath(directory, entry.name), code: problem.code, message: problem.message }]
  })
}

/** Returns the stable code of a problem. A `code` in capitals comes from the system, any other from a FileError. */
export function problemCodeOf(code: string): string {
  if (code === 'EACCES' || code === 'EPERM') return 'unreadable'
  return code === code.toUpperCase() ? 'io-error' : code
}

function describeDecision({ pattern, source, line }: IgnoreDecision): string {
  if (source === 'content') return `it holds ${pattern}`
  if (source === 'include') return `not in include: ${pattern}`
  return `${pattern} (${line === null ? source : `${source}:${line}`})`
}

function addIgnored(options: WalkOptions, path: string, ignored: readonly IgnoredEntry[], batch: ScanBatch): void {
  const { counts } = batch
  for (const { name, decision, isDirectory } of ignored) {
    counts.ignored += 1
    if (decision.secret) counts.secrets += 1
    if (isDirectory) batch.ignoredDirectories.push(joinPath(path, name))
    if (options.listIgnored) {
      batch.leftOut.push({ path: joinPath(path, name), kind: 'ignored', reason: describeDecision(decision) })
    }
  }
}

function addLeftOut(options: WalkOptions, path: string, scan: ListedDirectory, batch: ScanBatch): void {
  const { counts } = batch
  addIgnored(options, path, scan.ignored, batch)
  for (const entry of scan.skipped) {
    if (skipProblem(entry)) continue
    const kind = kindOfSkipped(entry)
    counts[kind] += 1
    if (options.listIgnored) {
      batch.leftOut.push({ path: joinPath(path, entry.name), kind, reason: describeSkipped(entry) })
    }
  }
  batch.problems.push(...listSkipProblems(path, scan.skipped))
  for (const { name, code, message } of scan.problems) {
    batch.problems.push({ path: joinPath(path, name), code: problemCodeOf(code), message })
    // The entry may be a directory.
    batch.unreadable.push(joinPath(path, name))
  }
}

/** Walks depth first and yields batches. `beforeDirectory` may take directories off the bottom of the stack for another thread. */
export function* walkTree(
  scanner: Scanner,
  stack: ChildDirectory[],
  beforeDirectory: () => void,
): Generator<ScanBatch> {
  const batches = new BatchCollector()
  for (let directory = stack.pop(); directory; directory = stack.pop()) {
    beforeDirectory()
    const children = yield* scanDirectory(scanner, directory, batches)
    for (const child of children.toReversed()) stack.push(child)
    if (batches.isFull) yield batches.take()
  }
  yield batches.take()
}

/** Returns the ignore rules of the root and of every directory down to the parent of `path`. */
export function scopeAt({ fs, options }: Pick<Scanner, 'fs' | 'options'>, path: string): IgnoreScope {
  const readRules = (directory: string, fileName: string) => readIgnoreFile(fs, options.root, directory, fileName)
  let scope = createRootScope(options.rules, options.root.realPath)
  for (const step of descend(path, scope, readRules)) scope = step.scope
  return scope
}

export function createScanner(
  store: Pick<StoreReader, 'directories' | 'files'> | undefined,
  options: WalkOptions,
  { fs, clock }: { readonly fs: FileSystem; readonly clock: Clock },
): Scanner {
  const { mirrorId, rules } = options
  return {
    fs,
    clock,
    options,
    unmatched: new UnmatchedPatterns(rules.include),
    hasDigest: (path, digest) => store?.directories.findDigest(mirrorId, path)?.equals(digest) ?? false,
    listStored: (path) => store?.files.listForCompare(mirrorId, path) ?? [],
    findStored: (path, name) => store?.files.findForCompare(mirrorId, path, name),
  }
}
