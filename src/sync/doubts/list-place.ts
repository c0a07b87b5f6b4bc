import type { FileEntry } from '../../contract/records.ts'
import { isNotFound, TemporaryError } from '../../foundation/errors.ts'
import { escapeText } from '../../foundation/text/safe-text.ts'
import type { Connection, Engine, OpenMirror } from '../engine.ts'

/** Bounds of a look: pages of one listing (two million entries), and entries that are wanted. */
const MOST_PAGES = 4_000
const MOST_WANTED = 100_000

/** Lists the wanted entries of the directory that uploads were sent to. */
export async function listPlace(
  { signal }: Engine,
  { row }: OpenMirror,
  { client }: Connection,
  place: string,
  isWanted: (entry: FileEntry) => boolean,
): Promise<FileEntry[]> {
  const entries: FileEntry[] = []
  let pages = 0
  try {
    for await (const { files } of client.listDirectory(row.library.remoteId, place, signal)) {
      entries.push(...files.filter(isWanted))
      pages += 1
      if (pages > MOST_PAGES || entries.length > MOST_WANTED)
        throw new TemporaryError(
          'answer-malformed',
          `Cannot list "${escapeText(place)}": it has too many entries to compare`,
        )
    }
  } catch (error) {
    // A directory that does not exist holds nothing.
    if (!isNotFound(error)) throw error
  }
  return entries
}
