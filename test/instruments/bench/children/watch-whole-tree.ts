/** Begins to watch a tree in one of several ways, from loading what it takes until every directory is watched. */
import { readdirSync } from 'node:fs'
import { systemClock } from '../../../../src/foundation/clock.ts'
import { silentLogger } from '../../../../src/foundation/logger.ts'
import type { WatchBackEnd } from '../../../../src/local/watch/tree-watcher.ts'
import type { ChildMeasure } from './bench-engine.ts'

export type WatchWay = 'node' | 'node, directories known' | 'chokidar' | 'bare chokidar'

export interface WatchInput {
  readonly tree: string
  readonly way: WatchWay
  /** The compiled `open-tree-watcher.ts`, for the ways that are ours. */
  readonly module: string
}

/** `files` are directories here; of who lists none it is not known. */
export interface WatchMeasure extends ChildMeasure {
  /** Resident memory that came with it. */
  readonly grownBytes: number
}

/** What is done before measuring gives what is measured. */
const WAYS: Readonly<Record<WatchWay, () => () => Promise<number>>> = {
  node: () => () => watchOurWay('node', () => listDirectories(tree)),
  'node, directories known': () => {
    const known = listDirectories(tree)
    return () => watchOurWay('node', () => known)
  },
  chokidar: () => () => watchOurWay('chokidar', () => []),
  'bare chokidar': () => watchWithBareChokidar,
}

const { tree, way, module }: WatchInput = JSON.parse(process.argv[2] ?? '{}')
const measure = await measureWay(WAYS[way]())
// Taking the watches down isn't measured, and some take their time.
process.stdout.write(JSON.stringify(measure), () => process.exit())

async function measureWay(work: () => Promise<number>): Promise<WatchMeasure> {
  const bytesBefore = process.memoryUsage.rss()
  const cpuBefore = process.cpuUsage()
  const startMs = performance.now()
  const files = await work()
  const seconds = (performance.now() - startMs) / 1_000
  const { user, system } = process.cpuUsage(cpuBefore)
  const grownBytes = process.memoryUsage.rss() - bytesBefore
  return { seconds, cpuSeconds: (user + system) / 1e6, files, grownBytes }
}

async function watchOurWay(backEnd: WatchBackEnd, list: () => string[]): Promise<number> {
  const { openTreeWatcher }: typeof import('../../../../src/local/watch/open-tree-watcher.ts') = await import(module)
  const events = { onHint() {}, onLost() {}, onLimit: fail }
  const watcher = await openTreeWatcher({
    root: tree,
    backEnd,
    pollIntervalMs: null,
    events,
    clock: systemClock,
    logger: silentLogger,
  })
  const directories = list()
  watcher.add(directories)
  return directories.length
}

async function watchWithBareChokidar(): Promise<number> {
  const { watch } = await import('chokidar')
  const watcher = watch(tree, { ignoreInitial: true })
  await new Promise<void>((ready, failed) => watcher.once('ready', ready).once('error', failed))
  return 0
}

/** The bare walk; in the program the scan does it, which comes first anyway. */
function listDirectories(root: string): string[] {
  const found = ['']
  for (const path of found) {
    const inPath = path === '' ? root : `${root}/${path}`
    for (const entry of readdirSync(inPath, { withFileTypes: true })) {
      if (entry.isDirectory()) found.push(path === '' ? entry.name : `${path}/${entry.name}`)
    }
  }
  return found
}

function fail(message: string): never {
  throw new Error(message)
}
