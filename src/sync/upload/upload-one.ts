import { joinLibraryPath } from '../../contract/library-path.ts'
import { AccessError, type DoubtCause, DoubtError, FileError, RequestError } from '../../foundation/errors.ts'
import { isOutOfDescriptors, noDescriptorFree } from '../../local/read/file-errors.ts'
import { readVerified } from '../../local/read/read-verified.ts'
import type { Connection, Engine, OpenMirror } from '../engine.ts'
import { itemFailure } from '../item-failure.ts'
import { beginUpload } from '../progress.ts'
import type { Intent } from './intent.ts'

/** How one upload ended; `fatal` stops the whole run. */
export type UploadResult =
  | {
      readonly kind: 'stored'
      readonly resourceId: string
      readonly isDuplicate: boolean
      /** Its ingestion has ended, and nobody has to poll it. */
      readonly isSearchable: boolean
    }
  | { readonly kind: 'refused'; readonly code: string; readonly message: string }
  /** The directory that the upload names is gone, as the refusal of this upload or of another one showed. */
  | { readonly kind: 'no-directory' }
  | { readonly kind: 'doubt'; readonly cause: DoubtCause; readonly message: string }
  | { readonly kind: 'not-sent'; readonly problem: FileError }
  | { readonly kind: 'fatal'; readonly error: unknown }

/** Delays between attempts when no file descriptor is free: other uploads end and close their files meanwhile. */
const DESCRIPTOR_DELAYS_MS = [50, 200, 800, 2_000]

/** Uploads one content; never throws. If the bytes differ from those that were hashed, cuts the request off (P10). */
export async function uploadOne(
  engine: Engine,
  mirror: OpenMirror,
  connection: Connection,
  intent: Intent,
): Promise<UploadResult> {
  for (let attempt = 0; ; attempt += 1) {
    const result = await tryOnce(engine, mirror, connection, intent)
    if (result.kind !== 'fatal' || !isOutOfDescriptors(result.error)) return result
    const delayMs = DESCRIPTOR_DELAYS_MS[attempt]
    if (delayMs === undefined) return { kind: 'not-sent', problem: noDescriptorFree(intent.path) }
    await engine.clock.sleep(delayMs, engine.signal).catch(() => {})
  }
}

async function tryOnce(
  { fs, graceSignal, progress }: Engine,
  mirror: OpenMirror,
  connection: Connection,
  intent: Intent,
): Promise<UploadResult> {
  const { row, root } = mirror
  const { path, name, directory, mime, sizeBytes, sha256 } = intent
  const counter = beginUpload(progress, intent)
  try {
    const upload = {
      libraryId: row.library.remoteId,
      fileName: name,
      mime,
      sizeBytes,
      directoryPath: joinLibraryPath(row.remotePath, directory),
      openBody: () => counter.count(readVerified(fs, root, path, { sha256, sizeBytes })),
    }
    const answer = await connection.client.uploadFile(upload, graceSignal)
    counter.end(true)
    const { id: resourceId, duplicate, ingestion_status: status, text_extracted: hasText } = answer
    // Only this state needs no remark, which only a poll shows.
    const isSearchable = status === 'completed' && hasText === true
    return { kind: 'stored', resourceId, isDuplicate: duplicate === true, isSearchable }
  } catch (error) {
    counter.end(false)
    if (error instanceof FileError) return { kind: 'not-sent', problem: error }
    if (error instanceof RequestError) return { kind: 'refused', code: error.code, message: error.message }
    if (error instanceof DoubtError) return { kind: 'doubt', cause: error.doubtCause, message: error.message }
    // If the credential has the right all the same, the refusal concerns this upload alone.
    const needed = { libraryId: row.library.remoteId, right: 'resource.create' } as const
    const refusal = isRightMissing(error) && (await itemFailure(error, connection, needed, graceSignal))
    if (refusal) return { kind: 'refused', code: refusal.code, message: refusal.message }
    return { kind: 'fatal', error }
  }
}

function isRightMissing(error: unknown): boolean {
  return error instanceof AccessError && error.code === 'right-missing'
}
