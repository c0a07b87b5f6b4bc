import { joinLibraryPath } from '../../contract/library-path.ts'
import { AccessError, type DoubtCause, DoubtError, FileError, RequestError } from '../../foundation/errors.ts'
import { isOutOfDescriptors, noDescriptorFree } from '../../local/read/file-errors.ts'
import { readVerified } from '../../local/read/read-verified.ts'
import { ClosedFenceError, type UploadRequest } from '../../remote/service-client.ts'
import type { MirrorContext } from '../engine.ts'
import { itemFailure } from '../item-failure.ts'
import { assertLibraryRemains, isDirectoryGone } from '../library/create-directories.ts'
import type { RunAttempts } from '../pass.ts'
import { beginUpload } from '../progress.ts'
import type { Intent } from './upload-plan.ts'

/** How one upload ended; `fatal` stops the whole run. */
export type UploadResult =
  | {
      readonly kind: 'stored'
      readonly resourceId: string
      readonly isDuplicate: boolean
      /** True: ingestion has ended, so the resource is not polled. */
      readonly isSearchable: boolean
    }
  | { readonly kind: 'refused'; readonly code: string; readonly message: string }
  | { readonly kind: 'no-directory' }
  | { readonly kind: 'doubt'; readonly cause: DoubtCause; readonly message: string }
  | { readonly kind: 'not-sent'; readonly problem: FileError }
  /** The claim was lost, so another host may send the content. */
  | { readonly kind: 'unclaimed' }
  | { readonly kind: 'fatal'; readonly error: unknown }

/** Delays between attempts when no file descriptor is free: other uploads end and close their files meanwhile. */
const DESCRIPTOR_DELAYS_MS = [50, 200, 800, 2_000]

/** Uploads one content; never throws. Aborts the request if the bytes differ from those hashed (P10), or when `graceSignal` aborts. */
export async function uploadOne(context: MirrorContext, intent: Intent): Promise<UploadResult> {
  const { clock, signal } = context.engine
  for (let attempt = 0; ; attempt += 1) {
    const result = await tryOnce(context, intent)
    if (result.kind !== 'fatal' || !isOutOfDescriptors(result.error)) return result
    const delayMs = DESCRIPTOR_DELAYS_MS[attempt]
    if (delayMs === undefined) return { kind: 'not-sent', problem: noDescriptorFree(intent.path) }
    await clock.sleep(delayMs, signal).catch(() => {})
  }
}

async function tryOnce({ engine, mirror, connection }: MirrorContext, intent: Intent): Promise<UploadResult> {
  const { fs, graceSignal, progress } = engine
  const { row, root } = mirror
  const { path, name, directory, mime, sizeBytes, sha256 } = intent
  const counter = beginUpload(progress, intent)
  try {
    const upload: UploadRequest = {
      libraryId: row.library.remoteId,
      fileName: name,
      mime,
      sizeBytes,
      directoryPath: joinLibraryPath(row.remotePath, directory),
      fence: engine.fleet?.fence(intent.contentId),
      openBody: (take) => counter.count(readVerified(fs, root, path, { sha256, sizeBytes }, { take })),
    }
    const answer = await connection.client.uploadFile(upload, graceSignal)
    counter.end(true)
    const { id: resourceId, duplicate, ingestion_status: status, text_extracted: hasText } = answer
    // A resource in any other state may have a remark, which only a poll shows.
    const isSearchable = status === 'completed' && hasText === true
    return { kind: 'stored', resourceId, isDuplicate: duplicate === true, isSearchable }
  } catch (error) {
    counter.end(false)
    if (error instanceof FileError) return { kind: 'not-sent', problem: error }
    if (error instanceof ClosedFenceError) {
      engine.fleet?.forgetClaim(intent.contentId)
      return { kind: 'unclaimed' }
    }
    if (error instanceof RequestError) return { kind: 'refused', code: error.code, message: error.message }
    if (error instanceof DoubtError) return { kind: 'doubt', cause: error.doubtCause, message: error.message }
    // If the credential still has the right, the refusal concerns this upload alone.
    const needed = { libraryId: row.library.remoteId, right: 'resource.create' } as const
    const refusal = isRightMissing(error) && (await itemFailure(error, connection, needed, graceSignal))
    if (refusal) return { kind: 'refused', code: refusal.code, message: refusal.message }
    return { kind: 'fatal', error }
  }
}

function isRightMissing(error: unknown): boolean {
  return error instanceof AccessError && error.code === 'right-missing'
}

type Refusal = Extract<UploadResult, { kind: 'refused' }>

/** Finds out whether the service refused an upload because of its file, directory or library. */
export class RefusalExplainer {
  readonly #context: MirrorContext
  readonly #attempts: RunAttempts
  readonly #present = new Set<number>()
  #libraryCheck: Promise<void> | undefined

  constructor(context: MirrorContext, attempts: RunAttempts) {
    this.#context = context
    this.#attempts = attempts
  }

  /** Returns `fatal` if the library is gone, `no-directory` if the directory is, and otherwise the refusal. */
  async explain({ directoryId, directory }: Intent, refusal: Refusal): Promise<UploadResult> {
    const { goneDirectories, recreatedDirectories } = this.#attempts
    const mayMeanDirectory = refusal.code === 'not-found' || refusal.code === 'invalid'
    try {
      if (refusal.code === 'not-found') await this.#checkLibrary()
      const isPresent = this.#present.has(directoryId) || recreatedDirectories.has(directoryId)
      if (!mayMeanDirectory || isPresent) return refusal
      const isGone = await isDirectoryGone(this.#context, directory)
      const found = isGone ? goneDirectories : this.#present
      found.add(directoryId)
      return isGone ? { kind: 'no-directory' } : refusal
    } catch (error) {
      return { kind: 'fatal', error }
    }
  }

  /** Uploads that are refused at the same time share one check. */
  #checkLibrary(): Promise<void> {
    this.#libraryCheck ??= assertLibraryRemains(this.#context).then(() => {
      this.#libraryCheck = undefined
    })
    return this.#libraryCheck
  }
}
