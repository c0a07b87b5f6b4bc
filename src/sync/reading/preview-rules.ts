import type { RulesEffect } from '../../contract/mirror-edits.ts'
import { UsageError } from '../../foundation/errors.ts'
import { joinPath } from '../../foundation/files/paths.ts'
import { createRootScope, type IgnoreScope, type ScanRules } from '../../local/ignore/ignore-scope.ts'
import { boundedFileSystem } from '../../local/read/bounded-file-system.ts'
import { openRoot } from '../../local/read/open-and-recheck-root.ts'
import { listDirectory } from '../../local/scan/list-directory.ts'
import type { ListedDirectory } from '../../local/scan/stat-entry.ts'
import { ownDirectoriesBelow } from '../../rules/broad-and-overlapping-roots.ts'

export interface PreviewInput {
  readonly path: string
  /** The rules in force; null for a directory that is not mirrored. */
  readonly before: ScanRules | null
  readonly after: ScanRules
  /** Real paths of the directories that hold the program's own data. */
  readonly ownDirectories: readonly string[]
  /** After this time the preview ends with a partial result. */
  readonly maxMs: number
}

const MAX_NAMES = 10

/** A directory to list, with its ignore rules before and after the edit; null if they leave it out. */
interface Step {
  readonly path: string
  readonly before: IgnoreScope | null
  readonly after: IgnoreScope | null
}

/** Compares the files that a scan lists by either set of rules. Throws RootError or UsageError if the directory cannot be mirrored. */
export function previewRules({ path, before, after, ownDirectories, maxMs }: PreviewInput): RulesEffect {
  using root = openRoot(boundedFileSystem, path)
  const own = ownDirectoriesBelow(root.realPath, ownDirectories)
  if (own === 'inside')
    throw new UsageError('bad-usage', `Cannot mirror "${root.realPath}": it holds the data of shelfd itself`)
  const untilMs = performance.now() + maxMs
  const found = { files: 0, bytes: 0, leaving: noFiles(), coming: noFiles() }
  const list = (directory: string, rules: ScanRules | null, scope: IgnoreScope | null) => {
    const listing = rules && scope && listDirectory(boundedFileSystem, root.place, directory, scope, { rules })
    return listing?.kind === 'scanned' ? listing : undefined
  }
  const scopeOf = (rules: ScanRules) => createRootScope(rules, root.realPath)
  const stack: Step[] = [{ path: '', before: before && scopeOf(before), after: scopeOf(after) }]
  for (let step = stack.pop(); step; step = stack.pop()) {
    if (performance.now() > untilMs) return { ...found, isWhole: false }
    const listedBefore = list(step.path, before, step.before)
    const listedAfter = list(step.path, after, step.after)
    found.files += listedAfter?.files.length ?? 0
    for (const { fingerprint } of listedAfter?.files ?? []) found.bytes += fingerprint.sizeBytes
    if (before) {
      addMissing(found.leaving, step.path, listedBefore, listedAfter)
      addMissing(found.coming, step.path, listedAfter, listedBefore)
    }
    stack.push(...childrenOf(step.path, listedBefore, listedAfter).filter((child) => !own.includes(child.path)))
  }
  return { ...found, isWhole: true }
}

interface FoundFiles {
  count: number
  readonly first: string[]
}

const noFiles = (): FoundFiles => ({ count: 0, first: [] })

/** Adds to `found` the files of `listing` that `other` lacks. */
function addMissing(found: FoundFiles, directory: string, listing?: ListedDirectory, other?: ListedDirectory): void {
  const names = new Set(other?.files.names)
  for (const name of listing?.files.names ?? []) {
    if (names.has(name)) continue
    found.count += 1
    if (found.first.length < MAX_NAMES) found.first.push(joinPath(directory, name))
  }
}

/** Returns the subdirectories that either set of rules scans, in reverse order: the stack returns the last one first. */
function childrenOf(directory: string, before?: ListedDirectory, after?: ListedDirectory): Step[] {
  const inBefore = new Set(before?.directories)
  const inAfter = new Set(after?.directories)
  return [...new Set([...inBefore, ...inAfter])]
    .toSorted()
    .toReversed()
    .map((name) => ({
      path: joinPath(directory, name),
      before: before && inBefore.has(name) ? before.scope : null,
      after: after && inAfter.has(name) ? after.scope : null,
    }))
}
