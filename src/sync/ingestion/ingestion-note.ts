import type { ResourceRecord } from '../../contract/records.ts'
import { forEachConcurrently } from '../../foundation/concurrency/for-each-concurrently.ts'
import { escapeText, truncateText } from '../../foundation/text/safe-text.ts'
import { remarkOf } from '../../rules/ingestion/without-text.ts'
import type { PendingResource } from '../../store/tables/contents.ts'
import type { MirrorRow } from '../../store/tables/mirrors.ts'
import type { Connection, Engine, StoreContext } from '../engine.ts'
import { itemFailure } from '../item-failure.ts'

const LONGEST_NOTE = 500

/** Resources asked for in one call of `readWarnings`. */
const MOST_AT_ONCE = 256

type NoteContext = StoreContext & Pick<Engine, 'limits' | 'signal'>

/** Returns the service's remark beside the status, bounded and escaped; null if it has none. */
export function readNote(resource: ResourceRecord): string | null {
  const { text_extracted: textExtracted, ingestion_warnings: warnings = [], ingestion_error: error = null } = resource
  const note = remarkOf({ textExtracted, warnings, error })
  return note === null ? null : truncateText(escapeText(note), LONGEST_NOTE)
}

/**
 * Requests the warnings of resources that ended with some before the store kept them, each once; returns false when none is
 * left. Writes only the note, because the status is final.
 */
export async function readWarnings(engine: NoteContext, connection: Connection, row: MirrorRow): Promise<boolean> {
  const { store, clock, limits, signal } = engine
  const unread = store.contents.listWithUnreadWarnings(row.id, MOST_AT_ONCE)
  if (unread.length === 0) return false
  const notes = new Map<number, string | null>()
  const ask = async ({ contentId, resourceId }: PendingResource) => {
    try {
      notes.set(contentId, readNote(await connection.client.showResource(row.library.remoteId, resourceId, signal)))
    } catch (error) {
      // A resource that is gone or cannot be shown has no remark; the report shows that it is gone.
      const needed = { libraryId: row.library.remoteId, right: 'read' } as const
      if (!(await itemFailure(error, connection, needed, signal))) throw error
      notes.set(contentId, null)
    }
  }
  try {
    await forEachConcurrently(unread, limits.checkers, ask)
  } finally {
    store.writeRelaxed(() => {
      for (const [contentId, note] of notes) store.contents.setIngestionNote(contentId, note, clock.nowMs())
    })
  }
  return true
}
