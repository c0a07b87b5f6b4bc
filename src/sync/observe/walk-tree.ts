import { createIgnoreRules, type IgnoreScope } from '../../local/ignore/ignore-scope.ts'
import { readIgnoreFile } from '../../local/ignore/read-ignore-file.ts'
import { BatchCollector } from './collect-batches.ts'
import type { ObservationBatch } from './observation.ts'
import { type ChildDirectory, type Observer, observeDirectory } from './observe-directory.ts'

/**
 * Walks the directories of `stack` and all below, depth first, and gives what was observed in batches. The caller may
 * take directories off the bottom of the stack between two batches and walk them elsewhere.
 */
export function* walkTree(
  observer: Observer,
  stack: ChildDirectory[],
  isStopped: () => boolean,
): Generator<ObservationBatch> {
  const batches = new BatchCollector()
  for (let directory = stack.pop(); directory && !isStopped(); directory = stack.pop()) {
    const children = yield* observeDirectory(observer, directory, batches)
    for (let index = children.length - 1; index >= 0; index -= 1) {
      const child = children[index]
      if (child) stack.push(child)
    }
    if (batches.isFull) yield batches.take()
  }
  yield batches.take()
}

/** The rules in force at `path`: those of the root and of every directory on the way down to its parent. */
export function scopeAt({ fs, options }: Pick<Observer, 'fs' | 'options'>, path: string): IgnoreScope {
  const segments = path === '' ? [] : path.split('/')
  let scope = createIgnoreRules(options.ignore)
  for (let depth = 0; depth < segments.length; depth += 1) {
    const ancestor = segments.slice(0, depth).join('/')
    scope = scope.enter(ancestor, readIgnoreFile(fs, options.rootRealPath, ancestor))
  }
  return scope
}
