/** Entry of a thread that walks parts of a tree and hashes files that differ from the store. */
import { parentPort } from 'node:worker_threads'
import { systemClock } from '../../foundation/clock.ts'
import { collectGarbage } from '../../foundation/collect-garbage.ts'
import { isAskedToEnd, serveThread } from '../../foundation/concurrency/threads.ts'
import { loadSqlite } from '../../foundation/sqlite/open-database.ts'
import { nodeFileSystem } from '../../local/read/file-system.ts'
import type { RootPlace } from '../../local/read/open-and-recheck-root.ts'
import { ReadMeter } from '../../local/read/read-meter.ts'
import { openStoreReader } from '../../store/open-store.ts'
import { rescanEntries } from './rescan-entries.ts'
import {
  CREDITS,
  type DirectoryEntries,
  emptyBatch,
  type FromWorker,
  IDLE_WORKERS,
  type RescanOptions,
  type ToWorker,
} from './scan-batch.ts'
import { createScanner, type Scanner, scopeAt, walkTree } from './scan-directory.ts'

interface Walker {
  receive(message: ToWorker): void
  stop(): void
}

/** A thread that was open for longer frees its memory itself: V8 would keep it for eight seconds, while the uploads begin. */
const LONG_OPEN_MS = 1_000

let walker: Walker | undefined

function openWalker(options: RescanOptions, shared: Int32Array): Walker {
  const reader = options.storeDirectory === null ? undefined : openStoreReader(options.storeDirectory)
  const meter = new ReadMeter(nodeFileSystem, systemClock, (amount) => {
    endIfAsked()
    post({ kind: 'read', amount })
  })
  const { fs, countFile } = meter
  const context = { fs, clock: systemClock }
  const scannerAt = (root: RootPlace) => ({ ...createScanner(reader, { ...options, root }, context), countFile })
  const renewView = () => reader?.renewView()
  const receive = (message: ToWorker) => {
    try {
      if (message.kind === 'walk') walk(scannerAt(message.root), message.paths, shared, renewView)
      else if (message.kind === 'rescan') rescan(scannerAt(message.root), message.entries, shared, renewView)
      meter.flush()
      post({ kind: 'idle' })
    } catch (error) {
      if (!isAskedToEnd()) throw error
    }
  }
  const startMs = performance.now()
  const stop = () => {
    reader?.[Symbol.dispose]()
    if (performance.now() - startMs > LONG_OPEN_MS) collectGarbage()
  }
  return { receive, stop }
}

function endIfAsked(): void {
  if (isAskedToEnd()) throw new Error('The thread was asked to end')
}

function rescan(
  scanner: Scanner,
  entries: readonly DirectoryEntries[],
  shared: Int32Array,
  renewView: () => void,
): void {
  renewView()
  const batch = emptyBatch()
  for (const group of entries) rescanEntries(scanner, group, batch)
  takeCredit(shared)
  post({ kind: 'batch', batch })
  renewView()
}

function walk(scanner: Scanner, paths: readonly string[], shared: Int32Array, renewView: () => void): void {
  renewView()
  const stack = paths.map((path) => ({ path, scope: scopeAt(scanner, path) }))
  const canBeStolenFrom = () => stack.length > 1 && Atomics.load(shared, IDLE_WORKERS) > 0
  const giveHalfToIdleWorker = () => {
    endIfAsked()
    // The bottom of the stack holds the directories nearest to the root, so the largest subtrees.
    if (canBeStolenFrom()) post({ kind: 'stolen', paths: stack.splice(0, stack.length >> 1).map(({ path }) => path) })
  }
  for (const batch of walkTree(scanner, stack, giveHalfToIdleWorker)) {
    // A read transaction that stays open keeps the writer from truncating the write-ahead log.
    renewView()
    takeCredit(shared)
    post({ kind: 'batch', batch })
  }
}

/** Waits as long as the main thread has too many unread batches. */
function takeCredit(shared: Int32Array): void {
  while (Atomics.load(shared, CREDITS) <= 0) Atomics.wait(shared, CREDITS, Atomics.load(shared, CREDITS), 1_000)
  Atomics.sub(shared, CREDITS, 1)
}

function post(message: FromWorker): void {
  parentPort?.postMessage(message)
}

loadSqlite()
serveThread(
  (message: ToWorker) => {
    if (message.kind === 'open') walker = openWalker(message.options, message.shared)
    else walker?.receive(message)
  },
  () => walker?.stop(),
)
