import { createHash } from 'node:crypto'
import type { FileEntry } from '../../contract/records.ts'
import { isNotFound, type ShelfdError, TemporaryError } from '../../foundation/errors.ts'
import { escapeText } from '../../foundation/text/safe-text.ts'
import type { Download, ServiceClient } from '../../remote/service-client.ts'
import { blocksUpload } from '../../rules/doubts.ts'
import type { SyncSummary } from '../../rules/sync-summary.ts'
import type { ResourceBytes } from '../../store/tables/foreign-entries.ts'
import type { Connection, Engine, MirrorContext } from '../engine.ts'
import { itemFailure } from '../item-failure.ts'
import { quarantineUntil } from '../operator/quarantine.ts'
import type { RunAttempts } from '../pass.ts'

const MAX_DOWNLOADS = 8
const DOWNLOAD_RETRY_MS = 100

interface SoughtContent {
  readonly path: string
  readonly mime: string
  readonly size: number
}

/** A failure concerns this search alone, so that others continue. */
export type SearchResult<T> = { readonly found: T } | { readonly failure: ShelfdError }

/** Where a run records its searches, beside the store. */
export interface SearchWork {
  readonly summary: SyncSummary
  readonly attempts: RunAttempts
}

/** Returns an error that concerns this search alone, and throws one that concerns the whole service. */
export async function trySearch<T>(
  { engine, mirror: { row }, connection }: MirrorContext,
  search: () => Promise<T>,
): Promise<SearchResult<T>> {
  try {
    return { found: await search() }
  } catch (error) {
    const needed = { libraryId: row.library.remoteId, right: 'read' } as const
    const failure = await itemFailure(error, connection, needed, engine.signal)
    if (failure) return { failure }
    throw error
  }
}

/** Downloads a resource to compare it. The SHA-256 is undefined if the size differs; the result is undefined if the resource is gone. */
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
      // The body is read even if the size differs, because an unread body keeps its connection.
      const sha256 = await sha256Of(download.body, isOtherSize ? 0 : content.size)
      assertNoPage(download, content)
      return { sizeBytes: download.sizeBytes, sha256: isOtherSize ? undefined : sha256 }
    } catch (error) {
      if (!(error instanceof TemporaryError) || attempt === MAX_DOWNLOADS) throw error
      await clock.sleep(DOWNLOAD_RETRY_MS * attempt, signal)
    }
  }
}

/** Returns whether the bytes that were read prove that the resource is another content. */
export function isOtherContent(
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

/** Returns undefined when the resource is gone. */
async function openDownload(client: ServiceClient, resourceId: string, signal: AbortSignal) {
  try {
    return await client.downloadResource(resourceId, signal)
  } catch (error) {
    if (isNotFound(error)) return undefined
    throw error
  }
}

/** A search ends after this number of candidates that cannot be compared, because the client has already retried each of them. */
const MAX_FAILURES = 8

interface Comparison<Candidate> {
  readonly candidates: Iterable<Candidate>
  readonly compare: (candidate: Candidate) => Promise<SearchResult<boolean>>
  readonly doubts: number
}

/** Returns the candidate that is the content, undefined if none is, or a failure if one that cannot be compared might be it. */
export async function findSame<Candidate>({
  candidates,
  compare,
  doubts,
}: Comparison<Candidate>): Promise<SearchResult<Candidate | undefined>> {
  const failures: ShelfdError[] = []
  for (const candidate of candidates) {
    const result = await compare(candidate)
    if ('found' in result) {
      if (result.found) return { found: candidate }
    } else if (blocksUpload(result.failure, doubts)) failures.push(result.failure)
    if (failures.length === MAX_FAILURES) break
  }
  const [failure] = failures
  return failure ? { failure } : { found: undefined }
}

/** Bounds of a search: pages of one listing (two million entries), and entries that are wanted. */
const MAX_PAGES = 4_000
const MAX_WANTED = 100_000

export async function listWanted(
  { engine: { signal }, mirror: { row }, connection: { client } }: MirrorContext,
  directory: string,
  isWanted: (entry: FileEntry) => boolean,
): Promise<FileEntry[]> {
  const entries: FileEntry[] = []
  let pages = 0
  try {
    for await (const { files } of client.listDirectory(row.library.remoteId, directory, signal)) {
      entries.push(...files.filter(isWanted))
      pages += 1
      if (pages > MAX_PAGES || entries.length > MAX_WANTED)
        throw new TemporaryError(
          'answer-malformed',
          `Cannot list "${escapeText(directory)}": it has too many entries to compare`,
        )
    }
  } catch (error) {
    // A directory that does not exist holds nothing.
    if (!isNotFound(error)) throw error
  }
  return entries
}

/** Records that the search for a content failed: the content is not uploaded, and is searched for again after a quarantine. */
export function recordFailedSearch(
  engine: Engine,
  { id, path }: { readonly id: number; readonly path: string },
  { code, message: reason }: ShelfdError,
  { exhausted }: RunAttempts,
): void {
  const { store, logger } = engine
  exhausted.add(id)
  const message = `Cannot find out whether the service stored it: ${reason}`
  const retryAt = quarantineUntil(engine, id, code)
  store.write(() => store.contents.setProblem(id, { code, message, retryAt }))
  logger.warn('cannot look for an earlier upload; the file waits', { path, code, reason })
}

/** Returns undefined if the stream does not have `sizeBytes` bytes; stops reading once it has more. */
async function sha256Of(stream: AsyncIterable<Uint8Array>, sizeBytes: number): Promise<Buffer | undefined> {
  const hash = createHash('sha256')
  let readBytes = 0
  for await (const chunk of stream) {
    readBytes += chunk.length
    if (readBytes > sizeBytes) return undefined
    hash.update(chunk)
  }
  return readBytes === sizeBytes ? hash.digest() : undefined
}
