import { IdSet } from '../foundation/id-set.ts'
import type { Store } from '../store/open-store.ts'
import { OPEN_FILES_START, type OpenFile, type OpenFileCursor } from '../store/tables/files.ts'
import type { OpenMirror } from './engine.ts'

type Sending = Pick<OpenMirror, 'row' | 'part'>

/**
 * Returns files after `cursor` that have not received their content, at most `limit`, and none when there are no more. A run over a part
 * of the mirror leaves out all others.
 */
export function listOpenFiles(
  { files }: Pick<Store, 'files'>,
  { row, part }: Sending,
  cursor: OpenFileCursor,
  limit: number,
): OpenFile[] {
  for (let from = cursor; ; ) {
    const page = files.listOpen(row.id, from, limit)
    const last = page.at(-1)
    if (part === undefined || last === undefined) return page
    const taken = page.filter(({ directory, name }) => part.takes(directory, name, false))
    if (taken.length > 0) return taken
    from = { directoryId: last.directoryId, name: last.name }
  }
}

const PAGE = 1_000

/** Number and bytes of the contents that a run has to send. */
export function countToSend(store: Pick<Store, 'files' | 'contents'>, mirror: Sending): { n: number; bytes: number } {
  if (mirror.part === undefined) return store.contents.countToSend(mirror.row.id)
  const counted = new IdSet()
  let [n, bytes] = [0, 0]
  let page: readonly OpenFile[]
  for (let cursor: OpenFileCursor | undefined = OPEN_FILES_START; cursor; cursor = page.at(-1)) {
    page = listOpenFiles(store, mirror, cursor, PAGE)
    for (const { contentId, state, size } of page) {
      if (state !== 'new' || counted.has(contentId)) continue
      counted.add(contentId)
      n += 1
      bytes += size
    }
  }
  return { n, bytes }
}
