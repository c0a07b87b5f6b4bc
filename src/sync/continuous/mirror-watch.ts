import { messageOf } from '../../foundation/errors.ts'
import type { Logger } from '../../foundation/logger.ts'
import type { BackEndChoice } from '../../local/watch/open-tree-watcher.ts'
import { Settler } from '../../local/watch/settler.ts'
import {
  TooManyEntriesError,
  type TreeWatcher,
  type WatchBackEnd,
  type WatchEvents,
} from '../../local/watch/tree-watcher.ts'
import type { ScanIntervals } from '../../rules/scan-times.ts'
import type { Engine, MirrorSettings } from '../engine.ts'

/** How mirrors are watched. It is a parameter, so that tests need no file system that reports changes. */
export interface WatchMethod {
  choose(root: string): BackEndChoice
  watch(root: string, backEnd: WatchBackEnd, events: WatchEvents): Promise<TreeWatcher>
}

interface MirrorWatchHooks {
  onHint(): void
  onScanNeeded(reason: string): void
}

/** Watches one mirror's tree and holds paths that may have changed until they are settled. */
export class MirrorWatch implements AsyncDisposable {
  readonly settler: Settler
  readonly #watcher: TreeWatcher | undefined
  readonly #backEnd: BackEndChoice['backEnd'] | null

  private constructor(settler: Settler, watcher: TreeWatcher | undefined, backEnd: BackEndChoice['backEnd'] | null) {
    this.settler = settler
    this.#watcher = watcher
    this.#backEnd = backEnd
  }

  get backEnd(): BackEndChoice['backEnd'] | null {
    return this.#watcher?.hasStopped ? 'poll' : this.#backEnd
  }

  get delayMs(): number {
    return this.#watcher?.delayMs ?? 0
  }

  /** Begins to watch. If the watcher cannot start, logs why; scans then replace it. */
  static async open(
    { fs, clock, logger }: Pick<Engine, 'fs' | 'clock' | 'logger'>,
    options: {
      readonly root: string
      readonly settleMs: number
      readonly method: WatchMethod | null
      readonly name: string
    },
    hooks: MirrorWatchHooks,
  ): Promise<MirrorWatch> {
    const { root, method, name } = options
    const settler = new Settler({ fs, clock, rootRealPath: root, settleMs: options.settleMs })
    if (method === null) return new MirrorWatch(settler, undefined, null)
    const { backEnd, reason } = method.choose(root)
    logger.debug('watching', { mirror: name, watcher: backEnd, reason })
    if (backEnd === 'poll') return new MirrorWatch(settler, undefined, 'poll')
    try {
      const watcher = await method.watch(root, backEnd, listenerOf(settler, { logger, name }, hooks))
      return new MirrorWatch(settler, watcher, backEnd)
    } catch (error) {
      const fields = { mirror: name, watcher: backEnd, reason: messageOf(error) }
      if (error instanceof TooManyEntriesError) logger.debug('the mirror is scanned instead of watched', fields)
      else logger.warn('cannot watch the mirror; it is scanned instead', fields)
      return new MirrorWatch(settler, undefined, 'poll')
    }
  }

  /** Whether the watcher does not report all changes, so that only scans find them. */
  get isBlind(): boolean {
    return this.#watcher === undefined || this.#watcher.isLimited || this.#watcher.hasStopped
  }

  /** Whether frequent scans replace the watcher. */
  get isPolled(): boolean {
    return this.backEnd !== null && this.isBlind
  }

  get isLimited(): boolean {
    return this.#watcher?.isLimited ?? false
  }

  /** Watches directories. Returns those that were not watched before, which must be read again. */
  add(directories: readonly string[]): readonly string[] {
    return this.#watcher?.add(directories) ?? []
  }

  keepOnly(directories: ReadonlySet<string>): void {
    this.#watcher?.keepOnly(directories)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#watcher?.[Symbol.asyncDispose]()
  }
}

function listenerOf(
  settler: Settler,
  { logger, name }: { readonly logger: Logger; readonly name: string },
  hooks: MirrorWatchHooks,
): WatchEvents {
  return {
    onHint: (path) => {
      if (needsScan(path)) hooks.onScanNeeded('the rules or the root changed')
      else if (settler.isFull && !settler.has(path)) hooks.onScanNeeded('more changes than can be remembered')
      else {
        settler.markChanged(path)
        hooks.onHint()
      }
    },
    onLost: (reason) => hooks.onScanNeeded(reason),
    onLimit: (message) => {
      logger.warn(message, { mirror: name })
      hooks.onScanNeeded(message)
    },
  }
}

/** Returns whether a change of `path` needs a scan, because it is the root or a file with ignore rules. */
function needsScan(path: string): boolean {
  return path === '' || /(?:^|\/)\.(?:shelfd|git)ignore$/.test(path)
}

export interface ControllerSettings {
  readonly mirror: MirrorSettings
  readonly watch: WatchMethod | null
  readonly scanIntervals: ScanIntervals
  /** The limits of a run count the new contents of this last span of time. */
  readonly runSpanMs: number
}
