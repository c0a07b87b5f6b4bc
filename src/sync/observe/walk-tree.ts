import { descend } from '../../local/ignore/descend.ts'
import { createRootScope, type IgnoreScope } from '../../local/ignore/ignore-scope.ts'
import { readIgnoreFile } from '../../local/ignore/read-ignore-file.ts'
import { BatchCollector } from './collect-batches.ts'
import type { ObservationBatch } from './observation.ts'
import { type ChildDirectory, type Observer, observeDirectory } from './observe-directory.ts'

/**
 * Walks the directories of `stack` and all below, depth first, and yields batches of observations. It calls `beforeDirectory`
 * before each directory, which may take directories off the bottom of the stack for another thread.
 */
export function* walkTree(
  observer: Observer,
  stack: ChildDirectory[],
  beforeDirectory: () => void,
): Generator<ObservationBatch> {
  const batches = new BatchCollector()
  for (let directory = stack.pop(); directory; directory = stack.pop()) {
    beforeDirectory()
    const children = yield* observeDirectory(observer, directory, batches)
    for (let index = children.length - 1; index >= 0; index -= 1) {
      const child = children[index]
      if (child) stack.push(child)
    }
    if (batches.isFull) yield batches.take()
  }
  yield batches.take()
}

/** The ignore rules in force at `path`: those of the root and of every directory down to its parent. */
export function scopeAt({ fs, options }: Pick<Observer, 'fs' | 'options'>, path: string): IgnoreScope {
  const readRules = (directory: string) => readIgnoreFile(fs, options.root, directory)
  let scope = createRootScope(options.ignore)
  for (const step of descend(path, scope, readRules)) scope = step.scope
  return scope
}
