import type { FileEntry } from '../../contract/records.ts'
import { nameOf } from '../../foundation/files/paths.ts'
import { needsSearch } from '../../rules/doubts.ts'
import { ListedEntries, WantedUploads } from '../../rules/similar-names.ts'
import type { SyncSummary } from '../../rules/sync-summary.ts'
import type { DoubtfulContent } from '../../store/tables/contents.ts'
import type { ResourceBytes } from '../../store/tables/foreign-entries.ts'
import type { Engine, MirrorContext, OpenMirror } from '../engine.ts'
import type { Claims } from '../fleet/claims.ts'
import {
  findSame,
  isOtherContent,
  listWanted,
  readRemoteBytes,
  recordFailedSearch,
  type SearchResult,
  type SearchWork,
  trySearch,
} from './search-for-content.ts'

/** Listed entries that may be a content in doubt, with the hashes that were read. */
interface ListedCandidates {
  readonly entries: ListedEntries<FileEntry>
  readonly readBytes: Map<string, ResourceBytes>
}

interface Search {
  readonly content: DoubtfulContent
  /** Directories of its uploads that have not been searched yet. */
  readonly unsearched: Set<string>
  /** The result in the directories that were searched. */
  result: SearchResult<FileEntry | undefined>
}

/** The names under which a content was uploaded to one directory. */
interface Visit {
  readonly directory: string
  readonly names: readonly string[]
  readonly search: Search
}

/**
 * Searches for uploads in doubt (P4, lost answers): lists each directory that they were sent to, and compares entries without a receipt
 * by name, kind, size and hash. A content that is found is adopted. A content that complete listings do not show may be uploaded again. If
 * a search fails, a problem is recorded. `claims` decides which contents this host searches for. Returns how many may be uploaded.
 */
export async function resolveUploadDoubts(
  context: MirrorContext,
  work: SearchWork,
  claims?: Claims | undefined,
): Promise<number> {
  const { engine, mirror } = context
  const all = listDoubtful(engine, mirror).filter(({ id }) => !work.attempts.exhausted.has(id))
  const doubtful = claims && all.length > 0 ? await claims.claimDoubtful(all) : all
  let resendable = 0
  for (const [directory, visits] of Map.groupBy(planVisits(engine, doubtful), (visit) => visit.directory)) {
    const foreign = await trySearch(context, () => listForeign(context, { directory, visits }))
    for (const visit of visits) {
      const { search } = visit
      if (isFound(search.result)) continue
      const result = 'failure' in foreign ? foreign : await searchFor(context, visit, foreign.found)
      // The content may be in any of its directories: if the search of one failed, its absence from the others proves nothing.
      search.result = isFound(result) || !('failure' in search.result) ? result : search.result
      search.unsearched.delete(directory)
      if (search.unsearched.size > 0 && !isFound(result)) continue
      if (recordResult(context, search, work)) resendable += 1
    }
  }
  return resendable
}

function isFound(result: SearchResult<FileEntry | undefined>): boolean {
  return 'found' in result && result.found !== undefined
}

function planVisits({ store }: Engine, doubtful: readonly DoubtfulContent[]): Visit[] {
  return doubtful.flatMap((content) => {
    const targets = store.uploads.listUnaccounted(content.id)
    const byDirectory = Map.groupBy(targets, ({ remoteDirectory }) => remoteDirectory)
    const search: Search = { content, unsearched: new Set(byDirectory.keys()), result: { found: undefined } }
    return [...byDirectory].map(([directory, sent]) => ({
      directory,
      names: sent.map(({ path }) => nameOf(path)),
      search,
    }))
  })
}

export function listDoubtful({ store, clock, inFlight }: Engine, { row }: Pick<OpenMirror, 'row'>): DoubtfulContent[] {
  const nowMs = clock.nowMs()
  return store.contents.listDoubtful(row).filter((content) => !inFlight.has(content.id) && needsSearch(content, nowMs))
}

/** Lists a directory; returns the entries that belong to no content in the store and may be an upload in doubt. */
async function listForeign(
  context: MirrorContext,
  { directory, visits }: { readonly directory: string; readonly visits: readonly Visit[] },
): Promise<ListedCandidates> {
  const { engine, mirror } = context
  const { contents } = engine.store
  const sought = new WantedUploads(
    visits.flatMap(({ names, search }) => names.map((name) => ({ name, mime: search.content.mime }))),
  )
  const mayBeOne = (entry: FileEntry) =>
    sought.mayInclude(entry) && !contents.findByResource(mirror.row.library.id, entry.id)
  return { entries: new ListedEntries(await listWanted(context, directory, mayBeOne)), readBytes: new Map() }
}

/** Searches for one content among the entries, and removes the entry that it finds from them. */
async function searchFor(
  context: MirrorContext,
  { names, search: { content } }: Visit,
  { entries, readBytes }: ListedCandidates,
): Promise<SearchResult<FileEntry | undefined>> {
  const { mime, doubts } = content
  const candidates = new Set(names.flatMap((name) => entries.candidates({ name, mime })))
  const compare = (entry: FileEntry) =>
    trySearch(context, () => hasSameBytes(context, content, { id: entry.id, readBytes }))
  const result = await findSame({ candidates, compare, doubts })
  if ('found' in result && result.found) entries.remove(result.found)
  return result
}

async function hasSameBytes(
  { engine, connection }: MirrorContext,
  content: DoubtfulContent,
  { id, readBytes }: Pick<ListedCandidates, 'readBytes'> & { readonly id: string },
): Promise<boolean> {
  const earlier = readBytes.get(id)
  if (earlier && isOtherContent(earlier, content)) return false
  const found = await readRemoteBytes(engine, connection, id, content)
  if (!found) return false
  readBytes.set(id, found)
  return found.sha256 !== undefined && content.sha256.equals(found.sha256)
}

/** Records the result unless the content is no longer in doubt. Returns whether it may be uploaded again. */
function recordResult(context: MirrorContext, { content, result }: Search, { summary, attempts }: SearchWork): boolean {
  const { engine } = context
  if (!isStillInDoubt(engine, content)) return false
  if ('failure' in result) recordFailedSearch(engine, content, result.failure, attempts)
  else if (result.found) recordFound(context, content, result.found.id, summary)
  else recordAbsent(engine, content)
  return 'found' in result && !result.found
}

/** Returns false if another mirror of the library found the content, or began to upload it, during the search. */
function isStillInDoubt({ store, inFlight }: Engine, { id, retryAt }: DoubtfulContent): boolean {
  const now = store.contents.getUploadState(id)
  const isSame = (now.state === 'doubt' || now.state === 'sending') && now.retryAt === retryAt
  return isSame && !inFlight.has(id)
}

function recordFound(
  { engine, mirror }: MirrorContext,
  content: DoubtfulContent,
  resourceId: string,
  { uploads }: SyncSummary,
): void {
  const { store, clock, logger, metrics, fileLog } = engine
  const { row, runId } = mirror
  const { id, uploadId, path, size: sizeBytes } = content
  const nowMs = clock.nowMs()
  store.write(() => {
    const stored = { resourceId, isDuplicate: false, hasSecondLocation: false, mirrorId: row.id, runId, nowMs }
    store.contents.markStored(id, stored)
    store.uploads.end(uploadId, 'adopted', null, nowMs)
    engine.fleet?.recordEnd(id, 'adopted')
    uploads.created += 1
    uploads.aliases += Math.max(0, store.files.receiveAll(id) - 1)
    uploads.bytes += sizeBytes
  })
  metrics.uploadEnded('adopted', sizeBytes)
  logger.debug('found an earlier upload in the library', { mirror: row.name, path })
  fileLog.sent({ mirror: row.name, path, sizeBytes, resourceId, isDuplicate: false })
}

/** Records that the content did not arrive: it counts as new, so that any mirror may upload it. */
function recordAbsent(
  { store, clock, logger, metrics, fleet }: Engine,
  { id, path, size, uploadId }: DoubtfulContent,
): void {
  store.write(() => {
    store.contents.setState(id, 'new')
    store.uploads.end(uploadId, 'absent', null, clock.nowMs())
    fleet?.recordEnd(id, 'absent')
  })
  metrics.uploadEnded('absent', size)
  logger.debug('did not find an earlier upload in the library', { path })
}
