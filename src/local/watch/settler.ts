import type { Clock } from '../../foundation/clock.ts'
import { ageMsOf } from '../../rules/settled-files.ts'
import {
  BIGINT,
  type FileSystem,
  type Fingerprint,
  fingerprintOf,
  isRegularFile,
  sameFingerprint,
} from '../read/file-system.ts'

export interface SettlerOptions {
  readonly fs: FileSystem
  readonly clock: Clock
  readonly rootRealPath: string
  readonly settleMs: number
}

interface Settling {
  readonly sinceMs: number
  dueMs: number
  /** The file's state when it was last read; undefined before that. */
  fingerprint: Fingerprint | undefined
}

/** If there are more paths, a scan of the whole mirror is cheaper. */
const MAX_PATHS = 50_000

/** Holds changed paths until size, times and inode have stayed equal for `settleMs`. A path that is gone is settled after that time. */
export class Settler {
  readonly #options: SettlerOptions
  readonly #settling = new Map<string, Settling>()
  /** No path is due earlier. Kept because `nextDueMs` is called after each hint and must not search all paths. */
  #earliestDueMs = Number.POSITIVE_INFINITY

  constructor(options: SettlerOptions) {
    this.#options = options
  }

  get size(): number {
    return this.#settling.size
  }

  /** If true, new paths are not held, and the caller scans the whole mirror instead. */
  get isFull(): boolean {
    return this.#settling.size >= MAX_PATHS
  }

  has(path: string): boolean {
    return this.#settling.has(path)
  }

  waitedMs(path: string): number {
    const nowMs = this.#options.clock.monotonicMs()
    return nowMs - (this.#settling.get(path)?.sinceMs ?? nowMs)
  }

  /** Returns whether a path has been held since `atMs` (monotonic) or earlier, but for less than `longestMs`. */
  hasWaitedSince(atMs: number, longestMs: number): boolean {
    const nowMs = this.#options.clock.monotonicMs()
    for (const { sinceMs } of this.#settling.values()) {
      if (sinceMs <= atMs && nowMs - sinceMs < longestMs) return true
    }
    return false
  }

  /** Returns whether the path or a directory above it is held. */
  covers(path: string): boolean {
    for (let end = path.length; end > 0; end = path.lastIndexOf('/', end - 1)) {
      if (this.#settling.has(path.slice(0, end))) return true
    }
    return false
  }

  /** Records that `path` (relative to the root) may have changed just now. */
  markChanged(path: string): void {
    const dueMs = this.#options.clock.monotonicMs() + this.#options.settleMs
    const settling = this.#settling.get(path)
    if (settling) settling.dueMs = dueMs
    else if (!this.isFull) this.#add(path, dueMs)
  }

  markUnsettled(path: string, fingerprint: Fingerprint): void {
    if (this.#settling.has(path) || this.isFull) return
    this.#add(path, this.#dueOf(fingerprint), fingerprint)
  }

  /** Returns the monotonic time before which no path can be settled; undefined when no path is held. */
  nextDueMs(): number | undefined {
    if (this.#settling.size === 0) return undefined
    if (this.#earliestDueMs <= this.#options.clock.monotonicMs()) this.#earliestDueMs = this.#findEarliestDueMs()
    return this.#earliestDueMs
  }

  /** Removes and returns up to `limit` paths that are settled, gone, or no regular files. */
  takeSettled(limit: number): string[] {
    const nowMs = this.#options.clock.monotonicMs()
    const settled: string[] = []
    if (nowMs < this.#earliestDueMs) return settled
    for (const [path, settling] of this.#settling) {
      if (settled.length === limit) break
      if (settling.dueMs <= nowMs && this.#isSettled(path, settling)) settled.push(path)
    }
    for (const path of settled) this.#settling.delete(path)
    return settled
  }

  #add(path: string, dueMs: number, fingerprint?: Fingerprint): void {
    this.#settling.set(path, { sinceMs: this.#options.clock.monotonicMs(), dueMs, fingerprint })
    this.#earliestDueMs = Math.min(this.#earliestDueMs, dueMs)
  }

  #findEarliestDueMs(): number {
    let earliestMs = Number.POSITIVE_INFINITY
    for (const { dueMs } of this.#settling.values()) earliestMs = Math.min(earliestMs, dueMs)
    return earliestMs
  }

  #isSettled(path: string, settling: Settling): boolean {
    const { fs, rootRealPath, clock, settleMs } = this.#options
    const fingerprint = tryFingerprint(fs, `${rootRealPath}/${path}`)
    if (fingerprint === undefined) return true
    if (settling.fingerprint && sameFingerprint(settling.fingerprint, fingerprint)) return true
    if (ageMsOf(fingerprint, clock.nowMs()) >= settleMs) return true
    settling.fingerprint = fingerprint
    settling.dueMs = this.#dueOf(fingerprint)
    return false
  }

  /** Returns when an unchanged file counts as settled. Its age shortens the wait only if it is less than `settleMs`. */
  #dueOf(fingerprint: Fingerprint): number {
    const { clock, settleMs } = this.#options
    const ageMs = ageMsOf(fingerprint, clock.nowMs())
    const waitedMs = ageMs < settleMs ? ageMs : 0
    return clock.monotonicMs() + settleMs - waitedMs
  }
}

/** Returns undefined for a path that is gone, unreadable, or no regular file. */
function tryFingerprint(fs: FileSystem, path: string): Fingerprint | undefined {
  try {
    const stats = fs.lstatSync(path, BIGINT)
    return isRegularFile(stats) ? fingerprintOf(stats) : undefined
  } catch {
    return undefined
  }
}
