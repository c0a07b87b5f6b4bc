import { joinLibraryPath } from '../contract/library-path.ts'
import { type DoubtCause, DoubtError, FileError, RejectedError } from '../foundation/errors.ts'
import { readVerified } from '../local/read-verified.ts'
import type { Connection, Engine, OpenMirror } from './engine.ts'
import { beginUpload } from './progress.ts'
import type { Intent } from './send-queue.ts'

/** How one upload ended; `fatal` is what stops the whole run. */
export type SendResult =
  | { readonly kind: 'stored'; readonly resourceId: string; readonly isDuplicate: boolean }
  | { readonly kind: 'refused'; readonly code: string; readonly message: string }
  | { readonly kind: 'doubt'; readonly cause: DoubtCause; readonly message: string }
  | { readonly kind: 'not-sent'; readonly problem: FileError }
  | { readonly kind: 'fatal'; readonly error: unknown }

/** Sends one content; the bytes are those that were hashed, or the request is broken off (P10). */
export async function sendOne(
  { fs, graceSignal, progress }: Engine,
  mirror: OpenMirror,
  { client }: Connection,
  intent: Intent,
): Promise<SendResult> {
  const { row, rootRealPath } = mirror
  const { path, name, directory, mime, sizeBytes, sha256 } = intent
  const counter = beginUpload(progress, intent)
  try {
    const upload = {
      libraryId: row.library.remoteId,
      fileName: name,
      mime,
      sizeBytes,
      directoryPath: joinLibraryPath(row.remotePath, directory),
      openBody: () => counter.count(readVerified(fs, rootRealPath, path, { sha256, sizeBytes })),
    }
    const answer = await client.uploadFile(upload, graceSignal)
    counter.end(true)
    return { kind: 'stored', resourceId: answer.id, isDuplicate: answer.duplicate === true }
  } catch (error) {
    counter.end(false)
    if (error instanceof FileError) return { kind: 'not-sent', problem: error }
    if (error instanceof RejectedError) return { kind: 'refused', code: error.code, message: error.message }
    if (error instanceof DoubtError) return { kind: 'doubt', cause: error.doubtCause, message: error.message }
    return { kind: 'fatal', error }
  }
}
