import type { Tables } from '../database/open-tables.ts'
import type { Passage } from '../database/tables/passages.ts'
import type { IngestionResult, ResourceRow } from '../database/tables/resources.ts'
import type { WriteQueue } from '../storage/write-queue.ts'

// A transaction of this much text takes about 10 ms, during which the service answers no request.
const MAX_PENDING_CHARACTERS = 256 * 1024
const MAX_PENDING_WRITES = 500

/** Collects the writes of ingestion in order and commits them in transactions of a bounded size. */
export interface PassageWriter {
  clear(resource: ResourceRow): void
  add(resource: ResourceRow, ordinal: number, passage: Passage): void
  /** Records why the resource has to be read again. */
  recordFailure(resource: ResourceRow, failure: string): void
  finish(result: IngestionResult): void
  /** Commits when enough writes are pending; throws the signal's reason when it is aborted. */
  drain(): Promise<void> | void
  commit(): Promise<void>
}

export function createPassageWriter(queue: WriteQueue, tables: Tables, signal: AbortSignal): PassageWriter {
  let pending: (() => void)[] = []
  let characters = 0
  const commit = async () => {
    const writes = pending
    pending = []
    characters = 0
    if (writes.length === 0) return
    await queue.write(() => {
      for (const write of writes) write()
    })
  }
  return {
    clear: (resource) => {
      pending.push(() => tables.passages.removeOfResource(resource.id))
    },
    add: (resource, ordinal, passage) => {
      characters += passage.text.length
      pending.push(() => {
        // A request may have deleted the library meanwhile.
        if (tables.resources.byId(resource.id)) tables.passages.insert(resource.id, ordinal, resource.title, passage)
      })
    },
    recordFailure: (resource, failure) => {
      pending.push(() => tables.resources.recordFailure(resource.id, failure))
    },
    finish: (result) => {
      pending.push(() => tables.resources.finish(result))
    },
    drain: () => {
      signal.throwIfAborted()
      if (characters >= MAX_PENDING_CHARACTERS || pending.length >= MAX_PENDING_WRITES) return commit()
    },
    commit,
  }
}
