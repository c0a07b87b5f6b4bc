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
  /** Real paths. */
  readonly ownDirectories: readonly string[]
  /** The result is partial after this time. */
  readonly mostMs: number
}

const MAX_NAMES = 10

/** Null for a side that leaves the directory out. */
interface Step {
  readonly path: string
  readonly before: IgnoreScope | null
  readonly after: IgnoreScope | null
}

/** Lists a directory as scans by both rules do, without reading a file. Throws RootError or UsageError if it cannot be mirrored. */
export function previewRules({ path, before, after, ownDirectories, mostMs }: PreviewInput): RulesEffect {
  using root = openRoot(boundedFileSystem, path)
  const own = ownDirectoriesBelow(root.realPath, ownDirectories)
  if (own === 'inside')
    throw new UsageError('bad-usage', `Cannot mirror "${root.realPath}": it holds the data of shelfd itself`)
  const untilMs = performance.now() + mostMs
  const found = { files: 0, bytes: 0, leaving: noFiles(), coming: noFiles() }
  const list = (directory: string, rules: ScanRules | null, scope: IgnoreScope | null) => {
    const listing = rules && scope && listDirectory(boundedFileSystem, root.place, directory, scope, { rules })
    return listing?.kind === 'scanned' ? listing : undefined
  }
  const scopeOf = (rules: ScanRules) => createRootScope(rules, root.realPath)
  const stack: Step[] = [{ path: '', before: before && scopeOf(before), after: scopeOf(after) }]
  for (let step = stack.pop(); step; step = stack.pop()) {
    if (performance.now() > untilMs) return { ...found, isWhole: false }
    const left = list(step.path, before, step.before)
    const right = list(step.path, after, step.after)
    found.files += right?.files.length ?? 0
    for (const { fingerprint } of right?.files ?? []) found.bytes += fingerprint.sizeBytes
    if (before) {
      addMissing(found.leaving, step.path, left, right)
      addMissing(found.coming, step.path, right, left)
    }
    stack.push(...childrenOf(step.path, left, right).filter((child) => !own.includes(child.path)))
  }
  return { ...found, isWhole: true }
}

interface FoundFiles {
  count: number
  readonly first: string[]
}

const noFiles = (): FoundFiles => ({ count: 0, first: [] })

/** Adds the files of a listing that the other one lacks. */
function addMissing(found: FoundFiles, directory: string, listing?: ListedDirectory, other?: ListedDirectory): void {
  const names = new Set(other?.files.names)
  for (const name of listing?.files.names ?? []) {
    if (names.has(name)) continue
    found.count += 1
    if (found.first.length < MAX_NAMES) found.first.push(joinPath(directory, name))
  }
}

/** Returns the directories below that any side scans, the last first. */
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
