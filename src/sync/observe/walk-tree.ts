import { createIgnoreRules, type IgnoreScope } from '../../local/ignore-rules.ts'
import { readIgnoreFile } from '../../local/read-ignore-file.ts'
import { emptyBatch, type ObservationBatch } from './observation.ts'
import { type ChildDirectory, type Observer, observeDirectory } from './observe-directory.ts'

/** A batch is handed on after so many directories or hashed bytes, so that nothing waits long and nothing grows. */
const BATCH_DIRECTORIES = 256
const BATCH_FILES = 512
const BATCH_BYTES = 64 * 2 ** 20

/**
 * Walks the directories of `stack` and all below, depth first, and gives what was observed in batches. The caller may
 * take directories off the bottom of the stack between two batches and walk them elsewhere.
 */
export function* walkTree(
  observer: Observer,
  stack: ChildDirectory[],
  isStopped: () => boolean,
): Generator<ObservationBatch> {
  let batch = emptyBatch()
  let files = 0
  for (let directory = stack.pop(); directory && !isStopped(); directory = stack.pop()) {
    const children = observeDirectory(observer, directory, batch)
    for (let index = children.length - 1; index >= 0; index -= 1) {
      const child = children[index]
      if (child) stack.push(child)
    }
    files = batch.counts.hashed
    if (
      batch.directories.length >= BATCH_DIRECTORIES ||
      files >= BATCH_FILES ||
      batch.counts.bytesHashed >= BATCH_BYTES
    ) {
      yield batch
      batch = emptyBatch()
    }
  }
  yield batch
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
