import { isNotFound, type ShelfdError, TemporaryError } from '../../foundation/errors.ts'
import { sha256Of } from '../../foundation/files/sha256-of.ts'
import { escapeText } from '../../foundation/text/safe-text.ts'
import type { Download, ServiceClient } from '../../remote/service-client.ts'
import type { SyncSummary } from '../../rules/sync-summary.ts'
import type { ResourceBytes } from '../../store/tables/untracked.ts'
import type { Connection, Engine, OpenMirror } from '../engine.ts'
import { itemFailure } from '../item-failure.ts'
import type { RunAttempts } from '../pass.ts'

const MOST_DOWNLOADS = 8
const DOWNLOAD_RETRY_MS = 100

/** The content that a resource is compared with. */
export interface SoughtContent {
  readonly path: string
  readonly mime: string
  readonly size: number
}

/** The result of a look; a failure concerns this look alone, so that others continue. */
export type Look<T> = { readonly seen: T } | { readonly failure: ShelfdError }

/** What a run keeps of its looks, beside the store. */
export interface LookWork {
  readonly summary: SyncSummary
  readonly attempts: RunAttempts
}

/** Runs `look`; returns an error that concerns it alone, and throws one that concerns the service as a whole. */
export async function lookAt<T>(
  { signal }: Engine,
  { row }: OpenMirror,
  connection: Connection,
  look: () => Promise<T>,
): Promise<Look<T>> {
  try {
    return { seen: await look() }
  } catch (error) {
    const needed = { libraryId: row.library.remoteId, right: 'read' } as const
    const failure = await itemFailure(error, connection, needed, signal)
    if (failure) return { failure }
    throw error
  }
}

/**
 * Downloads a resource to compare it with a content. Returns its size in bytes and its SHA-256, which is undefined if the
 * size differs; returns undefined when the resource is gone. Starts again, a few times, when a body breaks off.
 */
export async function readRemoteBytes(
  { signal, clock }: Pick<Engine, 'signal' | 'clock'>,
  { client }: Connection,
  resourceId: string,
  content: SoughtContent,
): Promise<ResourceBytes | undefined> {
  for (let attempt = 1; ; attempt += 1) {
    const download = await openDownload(client, resourceId, signal)
    if (!download) return undefined
    try {
      const isOtherSize = download.sizeBytes !== undefined && download.sizeBytes !== content.size
      // Begin to read even if the size differs: a body that nobody reads keeps its connection.
      const sha256 = await sha256Of(download.body, isOtherSize ? 0 : content.size)
      assertNoPage(download, content)
      return { sizeBytes: download.sizeBytes, sha256: isOtherSize ? undefined : sha256 }
    } catch (error) {
      if (!(error instanceof TemporaryError) || attempt === MOST_DOWNLOADS) throw error
      await clock.sleep(DOWNLOAD_RETRY_MS * attempt, signal)
    }
  }
}

/** Whether what was read of a resource proves that it is not the content. */
export function isKnownAsOther(
  { sizeBytes, sha256 }: ResourceBytes,
  content: { readonly size: number; readonly sha256: Uint8Array },
): boolean {
  const hasOtherSize = sizeBytes !== undefined && sizeBytes !== content.size
  return hasOtherSize || (sha256 !== undefined && Buffer.compare(sha256, content.sha256) !== 0)
}

/** Throws for a login page in place of the file: it would count as other bytes, and the file would be uploaded again. */
function assertNoPage({ mime }: Download, content: SoughtContent): void {
  const isPage = mime?.toLowerCase().startsWith('text/html') === true
  if (!isPage || content.mime === 'text/html') return
  const text = `Cannot download what may be "${escapeText(content.path)}"`
  throw new TemporaryError('answer-malformed', `${text}: the answer is HTML, perhaps a login page`)
}

/** Returns undefined when the resource is gone; throws other errors, which the client has already retried. */
async function openDownload(client: ServiceClient, resourceId: string, signal: AbortSignal) {
  try {
    return await client.downloadResource(resourceId, signal)
  } catch (error) {
    if (isNotFound(error)) return undefined
    throw error
  }
}
