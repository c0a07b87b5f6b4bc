import type { ResourceRecord } from '../../contract/records.ts'
import { forEachConcurrently } from '../../foundation/for-each-concurrently.ts'
import { escapeText, truncateText } from '../../foundation/text.ts'
import { remarkOf } from '../../rules/without-text.ts'
import type { PendingResource } from '../../store/contents.ts'
import type { MirrorRow } from '../../store/mirrors.ts'
import type { Connection, Engine } from '../engine.ts'
import { itemFailure } from '../item-failure.ts'

const LONGEST_NOTE = 500

/** Resources asked for in one call of `readWarnings`. */
const MOST_AT_ONCE = 256

/** What the service says beside the status, bounded and escaped; null when it says nothing. */
export function readNote(resource: ResourceRecord): string | null {
  const { text_extracted: textExtracted, ingestion_warnings: warnings = [], ingestion_error: error = null } = resource
  const note = remarkOf({ textExtracted, warnings, error })
  return note === null ? null : truncateText(escapeText(note), LONGEST_NOTE)
}

/**
 * Asks once for the warnings of resources that ended with some before the store kept them; false when none are left. Only
 * the note is written: the status was final.
 */
export async function readWarnings(engine: Engine, connection: Connection, row: MirrorRow): Promise<boolean> {
  const { store, clock, limits, signal } = engine
  const unread = store.contents.listWithUnreadWarnings(row.id, MOST_AT_ONCE)
  if (unread.length === 0) return false
  const notes = new Map<number, string | null>()
  const ask = async ({ contentId, resourceId }: PendingResource) => {
    try {
      notes.set(contentId, readNote(await connection.client.showResource(row.library.remoteId, resourceId, signal)))
    } catch (error) {
      // What is missing remotely or cannot be shown has no remark; the report says the former.
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
