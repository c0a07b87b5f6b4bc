import { UnmatchedPatterns } from '../../local/ignore/selection.ts'
import type { FileSystem } from '../../local/read/file-system.ts'
import { BatchCollector, type ScanBatch } from './scan-batch.ts'
import { type ChildDirectory, type Scanner, scanDirectory, scopeAt } from './scan-directory.ts'

/** The bounds within which a tree counts as small. */
export interface SmallTree {
  /** How many file system calls and listed entries there may be, together. */
  readonly calls: number
  readonly bytes: number
  readonly durationMs: number
  /** After this time the walk ends before the next directory, and discards nothing. */
  readonly sliceMs?: number
}

/** A walk within these bounds takes less time than starting a thread. */
export const SMALL_TREE: SmallTree = { calls: 4_000, bytes: 8 * 2 ** 20, durationMs: 100 }

/**
 * Walks directories, each with all below it, on this thread until a bound is reached. Returns the batches and the remaining directories.
 * If a directory reached a bound, it is the last remaining one, and the batches contain nothing of it.
 */
export function walkSmallTree(scanner: Scanner, bounds = SMALL_TREE, start?: readonly ChildDirectory[]) {
  const { clock, options } = scanner
  const startMs = clock.monotonicMs()
  const { durationMs, sliceMs = durationMs } = bounds
  const { fs, isSpent } = budgetFileSystem(scanner.fs, bounds, () => clock.monotonicMs() > startMs + durationMs)
  // A new `unmatched`, so that a pattern which matched only in the discarded directory can match again when it is walked.
  const limited = { ...scanner, fs, unmatched: new UnmatchedPatterns(options.rules.include) }
  const batches: ScanBatch[] = []
  const stack = [...(start ?? [{ path: '', scope: scopeAt(scanner, '') }])]
  for (let directory = stack.pop(); directory; directory = stack.pop()) {
    const scanned = scanWhole(limited, directory, isSpent)
    if (scanned === undefined) return { batches, remaining: [...stack, directory] }
    batches.push(...scanned.batches)
    stack.push(...scanned.children.toReversed())
    if (clock.monotonicMs() > startMs + sliceMs) break
  }
  return { batches, remaining: stack }
}

/** Returns undefined if the budget was used up meanwhile. */
function scanWhole(scanner: Scanner, directory: ChildDirectory, isSpent: () => boolean) {
  const collector = new BatchCollector()
  const batches: ScanBatch[] = []
  try {
    const scanning = scanDirectory(scanner, directory, collector)
    let step = scanning.next()
    for (; !step.done; step = scanning.next()) batches.push(step.value)
    batches.push(collector.take())
    return isSpent() ? undefined : { batches, children: step.value }
  } catch (error) {
    if (isSpent()) return undefined
    throw error
  }
}

/** Returns a file system whose calls (not `closeSync`) throw once the budget is spent or `isLate()`. If `isSpent()`, discard everything. */
function budgetFileSystem(fs: FileSystem, { calls, bytes }: SmallTree, isLate: () => boolean) {
  let remainingCalls = calls
  let remainingBytes = bytes
  const isSpent = () => remainingCalls < 0 || remainingBytes < 0
  const spend = (name: string, answer: unknown) => {
    if (Array.isArray(answer)) remainingCalls -= answer.length
    if (name.startsWith('read') && typeof answer === 'number') remainingBytes -= answer
    if (isLate()) remainingCalls = -1
  }
  const limited = new Proxy(fs, {
    get: (target, name: keyof FileSystem) => {
      const call: unknown = Reflect.get(target, name)
      if (typeof call !== 'function' || name === 'closeSync') return call
      return (...args: unknown[]) => {
        remainingCalls -= 1
        if (isSpent()) throw new Error('This walk has read enough')
        const answer: unknown = Reflect.apply(call, target, args)
        spend(name, answer)
        return answer
      }
    },
  })
  return { fs: limited, isSpent }
}
