import { joinPath, nameOf, parentOf } from '../../foundation/files/paths.ts'
import { readIgnoreFile } from '../../local/ignore/ignore-files.ts'
import { BIGINT, isDirectory } from '../../local/read/file-system.ts'
import { type ListingContext, type MutableFindings, noFindings, statEntry } from '../../local/scan/stat-entry.ts'
import { compareDirectory } from '../../rules/compare-directory.ts'
import type { StoreReader } from '../../store/open-store.ts'
import type { DirectoryEntries, ScanBatch } from './scan-batch.ts'
import { listSkipProblems, problemCodeOf, readUnproven, type Scanner, scopeAt } from './scan-directory.ts'

/** Groups paths by the nearest directory that is in the store. */
export function groupByDirectory(
  { directories }: Pick<StoreReader, 'directories'>,
  mirrorId: number,
  paths: readonly string[],
): DirectoryEntries[] {
  const isStored = new Map<string, boolean>()
  const names = new Map<string, Set<string>>()
  for (const path of paths) {
    let entry = path
    let directory = parentOf(entry)
    for (;;) {
      const found = isStored.get(directory) ?? directories.find(mirrorId, directory) !== undefined
      isStored.set(directory, found)
      if (found || directory === '') break
      entry = directory
      directory = parentOf(entry)
    }
    const entries = names.get(directory) ?? new Set<string>()
    names.set(directory, entries.add(nameOf(entry)))
  }
  return [...names].map(([directory, entries]) => ({ directory, names: [...entries] }))
}

/** Rescans some entries of a directory without listing it. Only adds missing entries to `absent`: a scan decides what to do about them. */
export function rescanEntries(scanner: Scanner, { directory, names }: DirectoryEntries, batch: ScanBatch) {
  const { options } = scanner
  const listing = openListing(scanner, directory, batch)
  if (listing === undefined) return
  const found = noFindings(names.length)
  for (const name of names) statEntry(scanner.fs, listing, name, found)
  for (const name of listAbsent(scanner, directory, found)) batch.absent.push(joinPath(directory, name))
  const trees = found.directories.map((name) => joinPath(directory, name))
  batch.trees.push(...trees.filter((path) => !options.ownDirectories.includes(path)))
  for (const { name, code, message } of found.problems) {
    batch.problems.push({ path: joinPath(directory, name), code: problemCodeOf(code), message })
  }
  batch.problems.push(...listSkipProblems(directory, found.skipped))
  addFiles(scanner, listing, found, batch)
}

function openListing({ fs, options }: Scanner, directory: string, batch: ScanBatch): ListingContext | undefined {
  const path = directory === '' ? options.root.realPath : `${options.root.realPath}/${directory}`
  try {
    if (!isDirectory(fs.lstatSync(path, BIGINT))) throw new Error('it was replaced by something else')
    const readText = (fileName: string) => readIgnoreFile(fs, options.root, directory, fileName)
    const scope = scopeAt({ fs, options }, directory).enter(directory, readText)
    return { root: options.root, path, relativePath: directory, scope, options: { rules: options.rules } }
  } catch {
    batch.absent.push(directory)
    return undefined
  }
}

/** Lists names that are no longer files to send: vanished, left out, or replaced by a directory. */
function listAbsent({ findStored }: Scanner, directory: string, found: MutableFindings): string[] {
  const leftOut = [...found.ignored, ...found.skipped].map(({ name }) => name)
  const replaced = found.directories.filter((name) => findStored(directory, name) !== undefined)
  return [...found.vanished, ...leftOut, ...replaced]
}

function addFiles(
  scanner: Scanner,
  { relativePath: path, scope }: ListingContext,
  found: MutableFindings,
  batch: ScanBatch,
): void {
  const files = [...found.files]
  const rows = files.map(({ name }) => scanner.findStored(path, name)).filter((row) => row !== undefined)
  const { unchangedCount, unproven } = compareDirectory(files, rows)
  batch.counts.unchanged += unchangedCount
  // Callers pass only settled paths, so the settle check is skipped.
  const settled = { ...scanner, options: { ...scanner.options, settleMs: null } }
  const { files: hashed, secrets } = readUnproven(settled, path, scope, unproven, batch)
  for (const { name } of secrets) batch.absent.push(joinPath(path, name))
  // The other files of the directory were not rescanned, so no digest can prove them unchanged.
  if (hashed.length > 0) batch.changes.push({ path, files: hashed, missing: [], digest: null })
}
