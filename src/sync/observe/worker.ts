/** Thread entry: walks parts of a tree, hashes what differs from the store, and posts what it observed. */
import { parentPort, workerData } from 'node:worker_threads'
import { systemClock } from '../../foundation/clock.ts'
import { nodeFileSystem } from '../../local/read/file-system.ts'
import { openStoreReader } from '../../store/open-store.ts'
import { examineEntries } from './examine-entries.ts'
import { type DirectoryEntries, emptyBatch, type WalkOptions } from './observation.ts'
import type { Observer } from './observe-directory.ts'
import { scopeAt, walkTree } from './walk-tree.ts'
import { CREDITS, type FromWorker, HUNGRY, type ToWorker } from './worker-messages.ts'

interface WorkerData {
  readonly options: WalkOptions
  readonly shared: Int32Array
}

const SCRATCH_BYTES = 2 ** 20

function serve({ options, shared }: WorkerData): void {
  const reader = options.storeDirectory === null ? undefined : openStoreReader(options.storeDirectory)
  const observer: Observer = {
    fs: nodeFileSystem,
    clock: systemClock,
    options,
    isSealed: (path, seal) => reader?.directories.findSeal(options.mirrorId, path)?.equals(seal) ?? false,
    listKnown: (path) => reader?.files.listForCompare(options.mirrorId, path) ?? [],
    findKnown: (path, name) => reader?.files.findForCompare(options.mirrorId, path, name),
    scratch: new Uint8Array(SCRATCH_BYTES),
  }
  const renewView = () => reader?.renewView()
  parentPort?.on('message', (message: ToWorker) => {
    if (message.kind === 'walk') walk(observer, message.paths, shared, renewView)
    else if (message.kind === 'examine') examine(observer, message.entries, shared, renewView)
    else {
      reader?.[Symbol.dispose]()
      parentPort?.close()
    }
  })
}

function examine(
  observer: Observer,
  entries: readonly DirectoryEntries[],
  shared: Int32Array,
  renewView: () => void,
): void {
  renewView()
  const batch = emptyBatch()
  for (const some of entries) examineEntries(observer, some, batch)
  takeCredit(shared)
  post({ kind: 'batch', batch })
  renewView()
  post({ kind: 'idle' })
}

function walk(observer: Observer, paths: readonly string[], shared: Int32Array, renewView: () => void): void {
  renewView()
  const stack = paths.map((path) => ({ path, scope: scopeAt(observer, path) }))
  const isHungry = () => stack.length > 1 && Atomics.load(shared, HUNGRY) > 0
  const shareIfAsked = () => {
    // The bottom of the stack holds the directories nearest to the root, so the largest parts.
    if (isHungry()) post({ kind: 'share', paths: stack.splice(0, stack.length >> 1).map(({ path }) => path) })
    return false
  }
  for (const batch of walkTree(observer, stack, shareIfAsked)) {
    // Not held for long: the writer could not empty its log meanwhile.
    renewView()
    takeCredit(shared)
    post({ kind: 'batch', batch })
  }
  post({ kind: 'idle' })
}

/** Waits while the receiver is behind: what is under way stays bounded. */
function takeCredit(shared: Int32Array): void {
  while (Atomics.load(shared, CREDITS) <= 0) Atomics.wait(shared, CREDITS, Atomics.load(shared, CREDITS), 1_000)
  Atomics.sub(shared, CREDITS, 1)
}

function post(message: FromWorker): void {
  parentPort?.postMessage(message)
}

serve(workerData)
