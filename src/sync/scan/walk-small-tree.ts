import { systemClock } from '../../foundation/clock.ts'
import { mayBlock } from '../../local/read/bounded-file-system.ts'
import { type FileSystem, nodeFileSystem } from '../../local/read/file-system.ts'
import type { OnRead } from '../../local/read/read-meter.ts'
import type { StoreReader } from '../../store/open-store.ts'
import { amountOf, BatchCollector, type ScanBatch, type StartWalk, type WalkOptions } from './scan-batch.ts'
import { type ChildDirectory, createScanner, type Scanner, scanDirectory, scopeAt } from './scan-directory.ts'
import { walkInThreads } from './walk-by-checkers.ts'

/** The bounds within which a tree counts as small. */
interface SmallTree {
  /** Calls, and entries of listings. */
  readonly calls: number
  readonly bytes: number
  readonly durationMs: number
}

/** Starting a thread takes longer than this walk. */
export const SMALL_TREE: SmallTree = { calls: 4_000, bytes: 8 * 2 ** 20, durationMs: 100 }

/**
 * Walks a tree on this thread until it proves larger than `most`. Returns the batches and the remaining directories, among them the
 * one in which the limit was reached, so that each is scanned once.
 */
export function walkSmallTree(scanner: Scanner, signal: AbortSignal, most = SMALL_TREE) {
  const { clock } = scanner
  const endMs = clock.monotonicMs() + most.durationMs
  const limited = budgetFileSystem(scanner.fs, most, () => clock.monotonicMs() > endMs)
  const batches: ScanBatch[] = []
  const stack: ChildDirectory[] = [{ path: '', scope: scopeAt(scanner, '') }]
  for (let directory = stack.pop(); directory; directory = stack.pop()) {
    signal.throwIfAborted()
    const scanned = scanWhole({ ...scanner, fs: limited.fs }, directory, limited.isSpent)
    if (scanned === undefined) return { batches, rest: [...stack, directory].map(({ path }) => path) }
    batches.push(...scanned.batches)
    stack.push(...scanned.children.toReversed())
  }
  return { batches, rest: [] }
}

/** Undefined if the budget was used up meanwhile. */
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

/**
 * Returns a file system whose calls fail, except `close`, once the budget is used up or `isLate`. Callers discard results once `isSpent`.
 */
function budgetFileSystem(fs: FileSystem, { calls, bytes }: SmallTree, isLate: () => boolean) {
  let callsLeft = calls
  let bytesLeft = bytes
  const isSpent = () => callsLeft < 0 || bytesLeft < 0
  const spend = (name: string, answer: unknown) => {
    if (Array.isArray(answer)) callsLeft -= answer.length
    if (name.startsWith('read') && typeof answer === 'number') bytesLeft -= answer
    if (isLate()) callsLeft = -1
  }
  const limited = new Proxy(fs, {
    get: (target, name: keyof FileSystem) => {
      const call: unknown = Reflect.get(target, name)
      if (typeof call !== 'function' || name === 'closeSync') return call
      return (...args: unknown[]) => {
        callsLeft -= 1
        if (isSpent()) throw new Error('This walk has read enough')
        const answer: unknown = Reflect.apply(call, target, args)
        spend(name, answer)
        return answer
      }
    },
  })
  return { fs: limited, isSpent }
}

/** Starting a thread takes longer than walking a small tree on this one. */
export function walkBySize(store: StoreReader, threads: number, most = SMALL_TREE): StartWalk {
  return (options, signal, onRead) =>
    // The threads of a large tree start at once, while this one asks the service.
    options.isLarge || mayBlock(options.root.realPath)
      ? walkInThreads({ threads, options, onRead }, signal, [''])
      : walkHere(options, signal, onRead)

  async function* walkHere(options: WalkOptions, signal: AbortSignal, onRead?: OnRead) {
    const scanner = createScanner(store, options, { fs: nodeFileSystem, clock: systemClock })
    const { batches, rest } = walkSmallTree(scanner, signal, most)
    for (const batch of batches) {
      onRead?.(amountOf(batch))
      yield batch
    }
    if (rest.length > 0) {
      await using walk = walkInThreads({ threads, options, onRead }, signal, rest)
      yield* walk
    }
    signal.throwIfAborted()
  }
}
