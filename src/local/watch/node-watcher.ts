import { type BigIntStats, lstatSync, watch } from 'node:fs'
import { basename } from 'node:path'
import { messageOf } from '../../foundation/errors.ts'
import { joinPath, parentOf } from '../../foundation/files/paths.ts'
import { escapeText } from '../../foundation/text/safe-text.ts'
import { isShared } from '../read/bounded-file-system.ts'
import { isDirectory } from '../read/file-system.ts'
import { EventReporter, type TreeWatcher, type TreeWatcherOptions } from './tree-watcher.ts'
import { describeWatchLimit, isWatchLimit } from './watch-limit.ts'

/**
 * Opens one watch for each directory. A watch follows its directory when it is moved, so the watcher compares identities, and closes the
 * watches of directories that are no longer at their paths.
 */
export class NodeWatcher implements TreeWatcher {
  readonly delayMs = 0
  readonly hasStopped = false
  isLimited = false
  readonly #options: TreeWatcherOptions
  readonly #reporter: EventReporter
  readonly #open: OpenDirectoryWatch
  readonly #watched = new PathTree<{ readonly identity: DirectoryIdentity; readonly watch: { close(): void } }>()
  #isClosed = false

  constructor(options: TreeWatcherOptions, open: OpenDirectoryWatch = openDirectoryWatch) {
    this.#options = options
    this.#open = open
    this.#reporter = new EventReporter({
      ...options,
      events: {
        ...options.events,
        onLost: (reason) => {
          this.#unwatchReplaced()
          options.events.onLost(reason)
        },
      },
    })
  }

  add(directories: readonly string[]): readonly string[] {
    const added: string[] = []
    for (const directory of this.#isClosed ? [] : directories) {
      if (this.#watched.get(directory)) continue
      const outcome = this.#watch(directory)
      if (outcome === 'limit') break
      if (outcome === 'watching') added.push(directory)
    }
    return added
  }

  keepOnly(directories: ReadonlySet<string>): void {
    for (const [path] of this.#watched.entries()) if (!directories.has(path)) this.#unwatch(path)
    if (this.#watched.size >= directories.size) this.isLimited = false
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true
    this.#reporter[Symbol.dispose]()
    for (const [path] of this.#watched.entries()) this.#unwatch(path)
  }

  #watch(directory: string): 'watching' | 'failed' | 'limit' {
    const path = this.#absolute(directory)
    try {
      // The identity is read before the watch starts, so that a replacement in between is noticed.
      const identity = identifyDirectory(path)
      if (!identity) return 'failed'
      const watch = this.#open(path, {
        onName: (name) => this.#handleName(directory, name),
        onError: (error) => this.#handleError(directory, error),
      })
      this.#watched.set(directory, { identity, watch })
      return 'watching'
    } catch (error) {
      return this.#handleFailure(directory, error)
    }
  }

  #handleFailure(directory: string, error: unknown): 'failed' | 'limit' {
    if (!isWatchLimit(error)) {
      this.#log(directory, error)
      return 'failed'
    }
    this.isLimited = true
    this.#reporter.reportLimit(describeWatchLimit(error))
    return 'limit'
  }

  /** The system reports a change of the directory itself under the directory's own name, as if it were an entry. */
  #handleName(directory: string, name: string | null): void {
    if (!name || name === basename(this.#absolute(directory))) this.#reportChange(directory)
    if (name) this.#reportChange(joinPath(directory, name))
  }

  #reportChange(path: string): void {
    const replaced = this.#watched.get(path) && this.#isReplaced(path) ? this.#watched.pathsFrom(path) : []
    for (const each of replaced) this.#unwatch(each)
    this.#reporter.reportHint(path)
    // The receiver of a hint rescans the path, and watches it again if it is still a directory.
    for (const each of replaced) if (each !== path) this.#reporter.reportHint(each)
  }

  #handleError(directory: string, error: Error): void {
    this.#log(directory, error)
    this.#unwatch(directory)
    this.#reporter.reportHint(directory)
  }

  /** Closes the watches of replaced directories, whose replacement lost events may have reported. */
  #unwatchReplaced(): void {
    for (const [path] of this.#watched.entries()) if (this.#isReplaced(path)) this.#unwatch(path)
  }

  #isReplaced(path: string): boolean {
    const stored = this.#watched.get(path)?.identity
    const current = identifyDirectory(this.#absolute(path))
    return stored?.inode !== current?.inode || stored?.birthNs !== current?.birthNs
  }

  #unwatch(path: string): void {
    this.#watched.remove(path)?.watch.close()
  }

  #absolute(path: string): string {
    return path === '' ? this.#options.root : `${this.#options.root}/${path}`
  }

  #log(directory: string, error: unknown): void {
    const fields = { directory: escapeText(directory), error: escapeText(messageOf(error)) }
    this.#options.logger.debug('Cannot watch a directory; scans find its changes', fields)
  }
}

export interface DirectoryWatchListener {
  /** Null: the system does not say which entry has changed. */
  onName(name: string | null): void
  onError(error: Error): void
}

export type OpenDirectoryWatch = (path: string, listener: DirectoryWatchListener) => { close(): void }

/** Opens a watch that does not keep the process alive. */
export const openDirectoryWatch: OpenDirectoryWatch = (path, listener) => {
  const watcher = watch(path, { persistent: false }, (_, name) => listener.onName(name))
  return watcher.on('error', (error) => listener.onError(error))
}

interface DirectoryIdentity {
  readonly inode: bigint
  readonly birthNs: bigint
}

/**
 * Returns undefined for anything but a readable directory, and on a shared mount, even one that was mounted later: there the kernel reports
 * no changes by other computers, and calls may never return.
 */
function identifyDirectory(path: string): DirectoryIdentity | undefined {
  if (isShared(path)) return undefined
  const stats = tryLstat(path)
  return stats && isDirectory(stats) ? { inode: stats.ino, birthNs: stats.birthtimeNs } : undefined
}

function tryLstat(path: string): BigIntStats | undefined {
  try {
    return lstatSync(path, { bigint: true, throwIfNoEntry: false })
  } catch {
    return undefined
  }
}

interface Node<Value> {
  value: Value | undefined
  below: Set<string> | undefined
}

/** Maps relative paths to values, and finds the paths at and below one. */
class PathTree<Value extends object> {
  readonly #nodes = new Map<string, Node<Value>>()
  #size = 0

  get size(): number {
    return this.#size
  }

  get(path: string): Value | undefined {
    return this.#nodes.get(path)?.value
  }

  set(path: string, value: Value): void {
    const node = this.#nodeAt(path)
    if (node.value === undefined) this.#size += 1
    node.value = value
  }

  *entries(): Generator<readonly [path: string, value: Value]> {
    for (const [path, { value }] of this.#nodes) if (value !== undefined) yield [path, value]
  }

  /** Removes and returns the value of `path`; the values of paths below stay. */
  remove(path: string): Value | undefined {
    const node = this.#nodes.get(path)
    if (node?.value === undefined) return undefined
    const { value } = node
    node.value = undefined
    this.#size -= 1
    this.#prune(path)
    return value
  }

  pathsFrom(path: string): string[] {
    const node = this.#nodes.get(path)
    if (node === undefined) return []
    const below = [...(node.below ?? [])].flatMap((inner) => this.pathsFrom(inner))
    return node.value === undefined ? below : [path, ...below]
  }

  #nodeAt(path: string): Node<Value> {
    const existing = this.#nodes.get(path)
    if (existing) return existing
    const node: Node<Value> = { value: undefined, below: undefined }
    this.#nodes.set(path, node)
    if (path !== '') {
      const above = this.#nodeAt(parentOf(path))
      above.below ??= new Set()
      above.below.add(path)
    }
    return node
  }

  #prune(path: string): void {
    const node = this.#nodes.get(path)
    if (node === undefined || node.value !== undefined || (node.below?.size ?? 0) > 0) return
    this.#nodes.delete(path)
    if (path === '') return
    this.#nodes.get(parentOf(path))?.below?.delete(path)
    this.#prune(parentOf(path))
  }
}
