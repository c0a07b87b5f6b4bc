import { mkdirSync, readdirSync } from 'node:fs'
import { join, relative } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { type Clock, systemClock } from '../../../src/foundation/clock.ts'
import { silentLogger } from '../../../src/foundation/logger.ts'
import { openTreeWatcher } from '../../../src/local/watch/open-tree-watcher.ts'
import type { TreeWatcher, TreeWatcherOptions, WatchBackEnd } from '../../../src/local/watch/tree-watcher.ts'
import { temporaryDirectory, writeTree } from '../../support/temporary.ts'

/** A back end, or chokidar with polling in place of the kernel's events. */
export type WatchWay = WatchBackEnd | 'polling chokidar'

const POLL_INTERVAL_MS = 20

/** What a watcher has reported so far. */
export interface Reported {
  readonly hints: Set<string>
  readonly losses: string[]
  readonly limits: string[]
}

/** A tree in a directory of its own, all of it watched; beside `root` there is room in `outside`. */
export interface WatchedTree extends AsyncDisposable {
  readonly root: string
  readonly outside: string
  readonly watcher: TreeWatcher
  readonly reported: Reported
  /** Calls `act` and resolves once all of `paths` had hints; fails after 20 seconds. */
  hints(paths: readonly string[], act: () => void): Promise<void>
}

export async function watchNewTree(
  way: WatchWay,
  files: Readonly<Record<string, string>> = {},
  clock: Clock = systemClock,
): Promise<WatchedTree> {
  const directory = temporaryDirectory()
  const [root, outside] = [join(directory, 'root'), join(directory, 'outside')]
  for (const each of [root, outside]) mkdirSync(each)
  writeTree(root, files)
  const { reported, options } = recording(root, way, clock)
  const watcher = await openTreeWatcher(options)
  watcher.add(directoriesOf(root))
  const hints = async (paths: readonly string[], act: () => void) => {
    reported.hints.clear()
    act()
    await until(`hints for ${paths.join(', ')}`, () => paths.every((path) => reported.hints.has(path)))
  }
  return { root, outside, watcher, reported, hints, [Symbol.asyncDispose]: () => watcher[Symbol.asyncDispose]() }
}

/** Options for a watcher of `root`, and the record of what it reports. */
export function recording(root: string, way: WatchWay, clock: Clock = systemClock) {
  const reported: Reported = { hints: new Set(), losses: [], limits: [] }
  const events: TreeWatcherOptions['events'] = {
    onHint: (path) => void reported.hints.add(path),
    onLost: (reason) => void reported.losses.push(reason),
    onLimit: (message) => void reported.limits.push(message),
  }
  const how =
    way === 'polling chokidar'
      ? ({ backEnd: 'chokidar', pollIntervalMs: POLL_INTERVAL_MS } as const)
      : { backEnd: way, pollIntervalMs: null }
  const options: TreeWatcherOptions = { root, ...how, clock, logger: silentLogger, events }
  return { reported, options }
}

/** The root as '' and all directories below it. */
export function directoriesOf(root: string): string[] {
  const below = readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => relative(root, join(entry.parentPath, entry.name)))
  return ['', ...below]
}

/** Repeats `isTrue` until it returns true, for at most 20 seconds. */
export async function until(what: string, isTrue: () => boolean): Promise<void> {
  const deadlineMs = performance.now() + 20_000
  while (!isTrue()) {
    if (performance.now() > deadlineMs) throw new Error(`Waited in vain: ${what}`)
    await pause(5)
  }
}
