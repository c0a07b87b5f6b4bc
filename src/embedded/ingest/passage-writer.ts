import { setImmediate } from 'node:timers/promises'
import type { indexWords } from '../analysis/index-words.ts'
import type { Tables } from '../database/open-tables.ts'
import type { ContentPlace, Passage } from '../database/passages-table.ts'
import type { IngestionResult, ResourceRow } from '../database/resources-table.ts'
import type { WriteQueue } from '../storage/write-queue.ts'

// A transaction of this much text takes about 10 ms, during which the service answers no request.
const MAX_PENDING_CHARACTERS = 256 * 1024
const MAX_PENDING_WRITES = 500
/** After preparing this number of characters for the search (about 10 ms), the service answers requests that wait. */
const MAX_CHARACTERS_A_TURN = 48 * 1024

/** A write whose text is prepared for the search before the transaction begins. */
interface PendingWrite {
  readonly characters: number
  prepare(toWords: typeof indexWords): () => void
}

export type PassageWriter = ReturnType<typeof createPassageWriter>

/** Collects the writes of ingestion in order and commits them in transactions of a bounded size. */
export function createPassageWriter(queue: WriteQueue, tables: Tables, signal: AbortSignal) {
  const positionOf = createPositionFinder(tables.readContent)
  const pending: PendingWrite[] = []
  let characters = 0
  const commit = async () => {
    const writes = await prepareAll(pending.splice(0))
    characters = 0
    if (writes.length === 0) return
    await queue.write(() => {
      for (const write of writes) write()
    })
  }
  const push = (write: () => void) => {
    pending.push({ characters: 0, prepare: () => write })
  }
  return {
    clear: (resource: ResourceRow) =>
      push(() => {
        tables.passageWords.removeOfResource(resource.id)
        tables.passages.removeOfResource(resource.id)
        tables.chunkVectors.removeOfResource(resource.id)
      }),
    add: (resource: ResourceRow, ordinal: number, passage: Passage) => {
      characters += passage.text.length
      // The content is in memory now; when the words are prepared, it would have to be read again.
      const position = positionOf(resource.id, passage.text)
      pending.push(toPendingWrite(tables, resource, ordinal, passage, position))
    },
    /** Records why the resource has to be read again. */
    recordFailure: (resource: ResourceRow, failure: string) =>
      push(() => tables.resources.recordFailure(resource.id, failure)),
    finish: (result: IngestionResult) => push(() => tables.resources.finish(result)),
    /** Commits if enough writes are pending. Throws the signal's reason if it is aborted. */
    drain: () => {
      signal.throwIfAborted()
      if (characters >= MAX_PENDING_CHARACTERS || pending.length >= MAX_PENDING_WRITES) return commit()
    },
    commit,
  }
}

/** Returns the prepared writes in their order. Loads the analysis of words only if there are any, since loading takes time. */
async function prepareAll(pending: readonly PendingWrite[]): Promise<(() => void)[]> {
  if (pending.length === 0) return []
  const analysis = await import('../analysis/index-words.ts')
  const writes: (() => void)[] = []
  let characters = 0
  for (const { characters: added, prepare } of pending) {
    writes.push(prepare(analysis.indexWords))
    characters += added
    if (characters < MAX_CHARACTERS_A_TURN) continue
    characters = 0
    await setImmediate()
  }
  return writes
}

function toPendingWrite(
  tables: Tables,
  { id, title }: ResourceRow,
  ordinal: number,
  passage: Passage,
  position: ContentPlace | undefined,
): PendingWrite {
  const prepare = (toWords: typeof indexWords) => {
    const words = toWords(ordinal === 0 ? title : '', passage.text, ordinal === 0)
    return () => {
      // A request may have deleted the library meanwhile.
      const resource = tables.resources.byId(id)
      if (!resource) return
      const passageId = tables.passages.insert(id, ordinal, passage, position)
      tables.passageWords.insert(passageId, resource.libraryId, words)
    }
  }
  return { characters: passage.text.length, prepare }
}

/**
 * Returns the position of a passage in the content of its resource; undefined if the content does not contain the same bytes, as in
 * another encoding or format. Call it for the passages of a resource in their order.
 */
type PositionFinder = (resourceId: number, text: string) => ContentPlace | undefined

/** A passage is searched for within this distance after the previous one: longer than any gap between passages. */
const MAX_GAP_BYTES = 64 * 1024

/** Reads a part of a content; fewer bytes if the content ends before; undefined if it is missing. */
type ReadPart = (resourceId: number, offset: number, length: number) => Buffer | undefined

export function createPositionFinder(readPart: ReadPart): PositionFinder {
  let currentId: number | undefined
  let reached = 0
  return (resourceId, text) => {
    if (currentId !== resourceId) reached = 0
    currentId = resourceId
    // SQLite ends a text at its first zero.
    if (text === '' || text.includes('\0')) return undefined
    const wanted = Buffer.from(text)
    const found = readPart(resourceId, reached, wanted.length + MAX_GAP_BYTES)?.indexOf(wanted) ?? -1
    if (found < 0) return undefined
    const offset = reached + found
    reached = offset + wanted.length
    return { offset, length: wanted.length }
  }
}
