import type { Clock } from '../../foundation/clock.ts'
import { ageMsOf } from '../../rules/is-settled.ts'
import type { FileSystem } from '../read/file-system.ts'
import { type Fingerprint, fingerprintOf, isRegularFile, sameFingerprint } from '../read/fingerprint.ts'

export interface SettlerOptions {
  readonly fs: FileSystem
  readonly clock: Clock
  readonly rootRealPath: string
  /** How long a file must have been quiet. */
  readonly settleMs: number
}

interface Settling {
  readonly sinceMs: number
  dueMs: number
  /** As it was when it was last looked at; undefined when it was only heard of. */
  fingerprint: Fingerprint | undefined
}

/** More paths than these are for a scan of the whole. */
const MAX_PATHS = 50_000

const BIGINT = { bigint: true } as const

/**
 * Paths that may have changed, until each has rested: the same size, times and inode for `settleMs`. What is gone, or is
 * no regular file, has nothing to wait for once its time is over.
 */
export class Settler {
  readonly #options: SettlerOptions
  readonly #settling = new Map<string, Settling>()
  /** No path is due before; asked after each hint, so the paths are gone through only when it is over. */
  #earliestDueMs = Number.POSITIVE_INFINITY

  constructor(options: SettlerOptions) {
    this.#options = options
  }

  get size(): number {
    return this.#settling.size
  }

  /** No further path is taken: scan everything instead. */
  get isFull(): boolean {
    return this.#settling.size >= MAX_PATHS
  }

  has(path: string): boolean {
    return this.#settling.has(path)
  }

  /** How long a path has been waiting for its rest by now; 0 for one that does not wait. */
  waitedMs(path: string): number {
    const nowMs = this.#options.clock.monotonicMs()
    return nowMs - (this.#settling.get(path)?.sinceMs ?? nowMs)
  }

  /** Whether a path that waited for its rest at `atMs` (monotonic) still does, for less than `longestMs` by now. */
  hasWaitedSince(atMs: number, longestMs: number): boolean {
    const nowMs = this.#options.clock.monotonicMs()
    for (const { sinceMs } of this.#settling.values()) {
      if (sinceMs <= atMs && nowMs - sinceMs < longestMs) return true
    }
    return false
  }

  /** Whether a path, or a directory above it, waits to be looked at. */
  covers(path: string): boolean {
    for (let end = path.length; end > 0; end = path.lastIndexOf('/', end - 1)) {
      if (this.#settling.has(path.slice(0, end))) return true
    }
    return false
  }

  /** `path` (relative to the root) may have changed just now. */
  markChanged(path: string): void {
    const dueMs = this.#options.clock.monotonicMs() + this.#options.settleMs
    const settling = this.#settling.get(path)
    if (settling) settling.dueMs = dueMs
    else if (!this.isFull) this.#add(path, dueMs)
  }

  /** A scan saw a file that has not rested. */
  markUnsettled(path: string, fingerprint: Fingerprint): void {
    if (this.#settling.has(path) || this.isFull) return
    this.#add(path, this.#dueOf(fingerprint), fingerprint)
  }

  /** When to ask again for what has rested (monotonic), never too late; undefined when nothing settles. */
  nextDueMs(): number | undefined {
    if (this.#settling.size === 0) return undefined
    if (this.#earliestDueMs <= this.#options.clock.monotonicMs()) this.#earliestDueMs = this.#findEarliestDueMs()
    return this.#earliestDueMs
  }

  /** Takes out at most `limit` paths that have rested, are gone, or are no regular files. */
  takeSettled(limit: number): string[] {
    const nowMs = this.#options.clock.monotonicMs()
    const rested: string[] = []
    if (nowMs < this.#earliestDueMs) return rested
    for (const [path, settling] of this.#settling) {
      if (rested.length === limit) break
      if (settling.dueMs <= nowMs && this.#isSettled(path, settling)) rested.push(path)
    }
    for (const path of rested) this.#settling.delete(path)
    return rested
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

  /** Times that make no sense (the clock was set, the file says so) don't shorten the wait. */
  #dueOf(fingerprint: Fingerprint): number {
    const { clock, settleMs } = this.#options
    const ageMs = ageMsOf(fingerprint, clock.nowMs())
    const waitedMs = ageMs > 0 && ageMs < settleMs ? ageMs : 0
    return clock.monotonicMs() + settleMs - waitedMs
  }
}

/** Undefined for what is gone, can't be looked at, or is no regular file. */
function tryFingerprint(fs: FileSystem, path: string): Fingerprint | undefined {
  try {
    const stats = fs.lstatSync(path, BIGINT)
    return isRegularFile(stats) ? fingerprintOf(stats) : undefined
  } catch {
    return undefined
  }
}
