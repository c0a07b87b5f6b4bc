import type { Clock } from '../../foundation/clock.ts'
import { descend, readIgnoreFile } from '../../local/ignore/ignore-files.ts'
import { createRootScope, type IgnoreScope } from '../../local/ignore/ignore-scope.ts'
import type { FileSystem } from '../../local/read/file-system.ts'
import type { StoreReader } from '../../store/open-store.ts'
import { BatchCollector, type ScanBatch, type WalkOptions } from './scan-batch.ts'
import { type ChildDirectory, type Scanner, scanDirectory } from './scan-directory.ts'

/**
 * Walks the directories of `stack` and all below, depth first, and yields batches of changes. It calls `beforeDirectory`
 * before each directory, which may take directories off the bottom of the stack for another thread.
 */
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

/** The ignore rules in force at `path`: those of the root and of every directory down to its parent. */
export function scopeAt({ fs, options }: Pick<Scanner, 'fs' | 'options'>, path: string): IgnoreScope {
  const readRules = (directory: string) => readIgnoreFile(fs, options.root, directory)
  let scope = createRootScope(options.rules.ignore)
  for (const step of descend(path, scope, readRules)) scope = step.scope
  return scope
}

/** Creates a scanner that knows what a store knows; without one, every file is new. */
export function createScanner(
  store: Pick<StoreReader, 'directories' | 'files'> | undefined,
  options: WalkOptions,
  { fs, clock }: { readonly fs: FileSystem; readonly clock: Clock },
): Scanner {
  const { mirrorId } = options
  return {
    fs,
    clock,
    options,
    hasDigest: (path, digest) => store?.directories.findDigest(mirrorId, path)?.equals(digest) ?? false,
    listKnown: (path) => store?.files.listForCompare(mirrorId, path) ?? [],
    findKnown: (path, name) => store?.files.findForCompare(mirrorId, path, name),
  }
}
