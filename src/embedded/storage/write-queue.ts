import type { Database } from 'better-sqlite3'
import type { Tables } from '../database/open-tables.ts'

const MAX_PER_TRANSACTION = 256

interface PendingWrite {
  run(): void
  resolve(): void
  reject(error: unknown): void
}

export type WriteQueue = ReturnType<typeof createWriteQueue>

/**
 * Creates a queue with group commit: writes that are requested at about the same time share one transaction and so one fsync. `blocks`
 * collects the contents that the writes of a transaction add to blocks, and writes them once before its end.
 */
export function createWriteQueue(
  database: Database,
  blocks?: Pick<Tables['contentBlocks'], 'begin' | 'flush' | 'committed'>,
) {
  const pending: PendingWrite[] = []
  const runAll = database.transaction((writes: readonly PendingWrite[]) => {
    blocks?.begin()
    for (const write of writes) write.run()
    blocks?.flush()
  })
  const commit = (writes: readonly PendingWrite[]) => {
    runAll.immediate(writes)
    blocks?.committed()
  }
  let countBefore = 0
  // Waits for another turn of the event loop as long as the last turn added writes.
  const flush = () => {
    if (pending.length > countBefore && pending.length < MAX_PER_TRANSACTION) {
      countBefore = pending.length
      setImmediate(flush)
      return
    }
    const writes = pending.splice(0, MAX_PER_TRANSACTION)
    countBefore = 0
    if (pending.length > 0) setImmediate(flush)
    commitTogether(writes, commit)
  }
  return {
    /** Runs `work` in a transaction, and resolves with its result when the transaction is durable. `work` may run twice. */
    write: <T>(work: () => T): Promise<T> =>
      new Promise((resolve, reject) => {
        if (pending.length === 0) setImmediate(flush)
        let settle = () => {}
        const run = () => {
          const value = work()
          settle = () => resolve(value)
        }
        pending.push({ run, resolve: () => settle(), reject })
      }),
  }
}

/** Commits writes in one transaction. If it fails, each write gets a transaction of its own, so that only a faulty one is rejected. */
function commitTogether(writes: readonly PendingWrite[], commit: (writes: readonly PendingWrite[]) => void): void {
  try {
    commit(writes)
    for (const write of writes) write.resolve()
  } catch (error) {
    if (writes.length === 1) writes[0]?.reject(error)
    else for (const write of writes) commitTogether([write], commit)
  }
}
