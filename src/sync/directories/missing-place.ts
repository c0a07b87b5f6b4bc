import { joinLibraryPath } from '../../contract/library-path.ts'
import { AccessError, isNotFound } from '../../foundation/errors.ts'
import type { Connection, Engine, OpenMirror } from '../engine.ts'

/** Throws AccessError `library-mismatch` if the library is gone; ignores other failures. */
export async function assertLibraryRemains(
  { row }: OpenMirror,
  { client }: Connection,
  signal: AbortSignal,
): Promise<void> {
  try {
    await client.showLibrary(row.library.remoteId, signal)
  } catch (error) {
    if (!isNotFound(error)) return
    const text = `The library "${row.library.name}" (${row.library.remoteId}) of the mirror "${row.name}" is gone from the service`
    const ways = `restore it, or "shelfd mirrors forget ${row.name}" and sync into another`
    throw new AccessError('library-mismatch', `${text}, and shelfd sends nothing more to it; ${ways}`, {
      cause: error,
    })
  }
}

/** Whether uploads name their directory and the service answers that `directory` does not exist. */
export async function isDirectoryGone(
  { signal }: Engine,
  { row }: OpenMirror,
  { client }: Connection,
  directory: string,
): Promise<boolean> {
  try {
    const capabilities = await client.capabilities(signal)
    if (capabilities.uploadDirectoryField.field === undefined) return false
    const path = joinLibraryPath(row.remotePath, directory)
    for await (const _ of client.listDirectory(row.library.remoteId, path, signal)) break
    return false
  } catch (error) {
    return isNotFound(error)
  }
}
