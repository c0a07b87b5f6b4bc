import type { Tables } from '../database/open-tables.ts'
import type { Passage } from '../database/tables/passages.ts'
import type { IngestionResult, ResourceRow } from '../database/tables/resources.ts'
import type { WriteQueue } from '../storage/write-queue.ts'

// A transaction of this much text takes some 10 ms, during which no request is served.
const MAX_PENDING_CHARACTERS = 256 * 1024
const MAX_PENDING_WRITES = 500

/** Gathers what ingestion writes, in order, and commits it in transactions of a bounded size. */
export interface PassageWriter {
  clear(resource: ResourceRow): void
  add(resource: ResourceRow, ordinal: number, passage: Passage): void
  /** Says why the resource has to be taken up again. */
  noteFailure(resource: ResourceRow, failure: string): void
  finish(result: IngestionResult): void
  /** Commits when enough has gathered; throws the signal's reason when it is aborted. */
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
        // Its library may have been deleted meanwhile.
        if (tables.resources.byId(resource.id)) tables.passages.insert(resource.id, ordinal, resource.title, passage)
      })
    },
    noteFailure: (resource, failure) => {
      pending.push(() => tables.resources.noteFailure(resource.id, failure))
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
