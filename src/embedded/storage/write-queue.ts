import type { Database } from 'better-sqlite3'
import type { Tables } from '../database/open-tables.ts'

const MAX_PER_TRANSACTION = 256

interface PendingWrite {
  run(): void
  resolve(): void
  reject(error: unknown): void
}

/** Group commit: what asks to be written at about the same time shares one transaction and so one fsync. */
export interface WriteQueue {
  /** Runs `work` in a transaction and resolves with its result once that is durable; `work` may run twice. */
  write<T>(work: () => T): Promise<T>
}

/** `gathered` adds up what the writes of a transaction add to blocks, and writes it once before the end. */
export function createWriteQueue(
  database: Database,
  gathered?: Pick<Tables['contentBlocks'], 'begin' | 'flush' | 'committed'>,
): WriteQueue {
  const pending: PendingWrite[] = []
  const runAll = database.transaction((writes: readonly PendingWrite[]) => {
    gathered?.begin()
    for (const write of writes) write.run()
    gathered?.flush()
  })
  const commit = (writes: readonly PendingWrite[]) => {
    runAll.immediate(writes)
    gathered?.committed()
  }
  let countBefore = 0
  // Waits for the next turn of the event loop as long as each turn brings more.
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
    write: (work) =>
      new Promise((resolve, reject) => {
        if (pending.length === 0) setImmediate(flush)
        pending.push(pendingWrite(work, resolve, reject))
      }),
  }
}

function pendingWrite<T>(work: () => T, resolve: (value: T) => void, reject: (error: unknown) => void): PendingWrite {
  let settle = () => {}
  return {
    run: () => {
      const value = work()
      settle = () => resolve(value)
    },
    resolve: () => settle(),
    reject,
  }
}

/** Gives each write a transaction of its own when the shared one fails, so that only the faulty one is refused. */
function commitTogether(writes: readonly PendingWrite[], commit: (writes: readonly PendingWrite[]) => void): void {
  try {
    commit(writes)
    for (const write of writes) write.resolve()
  } catch (error) {
    if (writes.length === 1) writes[0]?.reject(error)
    else for (const write of writes) commitTogether([write], commit)
  }
}
