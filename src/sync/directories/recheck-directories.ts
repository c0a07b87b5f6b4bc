import { joinLibraryPath } from '../../contract/library-path.ts'
import { AccessError } from '../../foundation/errors.ts'
import type { Connection, Engine, OpenMirror } from '../engine.ts'
import { listRemote } from '../list-remote.ts'

/**
 * Lists the library. Directories that a complete listing no longer shows become pending, so that they are created again; an
 * incomplete listing changes nothing (P11).
 */
export async function recheckDirectories(engine: Engine, mirror: OpenMirror, connection: Connection): Promise<void> {
  const { store } = engine
  const { row } = mirror
  const shown = await listFolders(engine, mirror, connection)
  if (!shown) return
  const gone = store.directories.list(row.id).filter(({ path }) => !shown.has(joinLibraryPath(row.remotePath, path)))
  if (gone.length === 0) return
  store.write(() => gone.forEach(({ path }) => void store.directories.markPending(row.id, path)))
}

/** Returns the paths of all folders of the library; undefined if the listing is incomplete or not permitted. */
async function listFolders(
  { limits, logger, signal }: Engine,
  { row }: OpenMirror,
  { client }: Connection,
): Promise<ReadonlySet<string> | undefined> {
  const shown = new Set(['/'])
  const listing = listRemote({
    client,
    libraryId: row.library.id,
    remoteId: row.library.remoteId,
    concurrency: limits.transfers,
    logger,
    signal,
    add: () => {},
    addFolder: (path) => void shown.add(path),
  })
  try {
    return (await listing).incomplete.length > 0 ? undefined : shown
  } catch (error) {
    if (error instanceof AccessError && error.code === 'right-missing') return undefined
    throw error
  }
}
