import type { FileEntry } from '../../contract/records.ts'
import { INBOX_PATH } from '../../contract/routes.ts'
import { nameOf } from '../../foundation/files/paths.ts'
import { needsLook } from '../../rules/doubts.ts'
import { listCandidates, rankCandidate } from '../../rules/similar-names.ts'
import type { SyncSummary } from '../../rules/sync-summary.ts'
import type { DoubtfulContent } from '../../store/tables/contents.ts'
import type { ResourceBytes } from '../../store/tables/untracked.ts'
import type { Engine, MirrorContext, OpenMirror } from '../engine.ts'
import {
  findSame,
  isKnownAsOther,
  type Look,
  type LookWork,
  listPlace,
  lookAt,
  readRemoteBytes,
  recordUnseen,
} from './search.ts'

/** Listed entries that may be a content in doubt, and what was read of them. */
interface UntrackedEntries {
  readonly entries: FileEntry[]
  /** By resource, so that each is read once, even if it might be several contents. */
  readonly read: Map<string, ResourceBytes>
}

interface Search {
  readonly content: DoubtfulContent
  /** Directories of its uploads that have not been looked through yet. */
  readonly unlooked: Set<string>
  /** What the looks so far have shown. */
  look: Look<FileEntry | undefined>
}

/** The names under which a content was uploaded to one directory. */
interface Visit {
  readonly place: string
  readonly names: readonly string[]
  readonly search: Search
}

/**
 * Looks for the resources of uploads in doubt (P4): lists each directory that they were sent to, and compares untracked
 * entries by name, kind, size and hash. Looks for all uploads of a content that may have arrived, not only for the latest.
 * Adopts a content that it finds; one that complete listings don't show may be uploaded once more; one whose look fails
 * becomes a problem. Returns the number of contents that may be uploaded.
 */
export async function resolveUploadDoubts(context: MirrorContext, work: LookWork): Promise<number> {
  const { engine, mirror } = context
  const doubtful = listDoubtful(engine, mirror).filter(({ id }) => !work.attempts.exhausted.has(id))
  let resendable = 0
  for (const [place, visits] of Map.groupBy(planVisits(engine, doubtful), (visit) => visit.place)) {
    const untracked = await lookAt(context, () => listUntracked(context, { place, visits }))
    for (const visit of visits) {
      const { search } = visit
      if (isFound(search.look)) continue
      const look = 'failure' in untracked ? untracked : await lookFor(context, visit, untracked.seen)
      // A find outweighs a failure, and a failure outweighs an absence.
      search.look = isFound(look) || !('failure' in search.look) ? look : search.look
      search.unlooked.delete(place)
      if (search.unlooked.size > 0 && !isFound(look)) continue
      if (recordLook(engine, mirror, search, work)) resendable += 1
    }
  }
  return resendable
}

function isFound(look: Look<FileEntry | undefined>): boolean {
  return 'seen' in look && look.seen !== undefined
}

function planVisits({ store }: Engine, doubtful: readonly DoubtfulContent[]): Visit[] {
  return doubtful.flatMap((content) => {
    const targets = store.uploads.listUnaccounted(content.id)
    const byPlace = Map.groupBy(targets, ({ place }) => place ?? INBOX_PATH)
    const search: Search = { content, unlooked: new Set(byPlace.keys()), look: { seen: undefined } }
    return [...byPlace].map(([place, sent]) => ({ place, names: sent.map(({ path }) => nameOf(path)), search }))
  })
}

/** Lists the contents of a mirror to look for: in doubt, not in flight, not set aside, not in quarantine. */
export function listDoubtful({ store, clock, inFlight }: Engine, { row }: Pick<OpenMirror, 'row'>): DoubtfulContent[] {
  const nowMs = clock.nowMs()
  return store.contents.listDoubtful(row).filter((content) => !inFlight.has(content.id) && needsLook(content, nowMs))
}

/** Lists the entries of a directory that the store does not know and that may be one of the contents. */
async function listUntracked(
  context: MirrorContext,
  { place, visits }: { readonly place: string; readonly visits: readonly Visit[] },
): Promise<UntrackedEntries> {
  const { engine, mirror } = context
  const { contents } = engine.store
  const sought = visits.flatMap(({ names, search }) => names.map((name) => ({ name, mime: search.content.mime })))
  const mayBeOne = (entry: FileEntry) =>
    !contents.findByResource(mirror.row.library.id, entry.id) &&
    sought.some((upload) => rankCandidate(entry, upload) !== undefined)
  return { entries: await listPlace(context, place, mayBeOne), read: new Map() }
}

/** Looks for one content among the entries, and removes the entry that it finds from them. */
async function lookFor(
  context: MirrorContext,
  { names, search: { content } }: Visit,
  { entries, read }: UntrackedEntries,
): Promise<Look<FileEntry | undefined>> {
  const { mime, doubts } = content
  const candidates = new Set(names.flatMap((name) => listCandidates(entries, { name, mime })))
  const compare = (entry: FileEntry) => lookAt(context, () => hasSameBytes(context, content, { id: entry.id, read }))
  const look = await findSame({ candidates, compare, doubts })
  if ('seen' in look && look.seen) entries.splice(entries.indexOf(look.seen), 1)
  return look
}

async function hasSameBytes(
  { engine, connection }: MirrorContext,
  content: DoubtfulContent,
  { id, read }: Pick<UntrackedEntries, 'read'> & { readonly id: string },
): Promise<boolean> {
  const known = read.get(id)
  if (known && isKnownAsOther(known, content)) return false
  const found = await readRemoteBytes(engine, connection, id, content)
  if (!found) return false
  read.set(id, found)
  return found.sha256 !== undefined && content.sha256.equals(found.sha256)
}

/** Records the result of a search, unless the content is in doubt no longer. Returns whether it may be uploaded again. */
function recordLook(
  engine: Engine,
  mirror: OpenMirror,
  { content, look }: Search,
  { summary, attempts }: LookWork,
): boolean {
  if (!isStillInDoubt(engine, content)) return false
  if ('failure' in look) recordUnseen(engine, content, look.failure, attempts)
  else if (look.seen) recordFound(engine, mirror, content, look.seen, summary)
  else recordAbsent(engine, content)
  return 'seen' in look && !look.seen
}

/** While this mirror looked, another mirror of the library may have found the content or begun to upload it. */
function isStillInDoubt({ store, inFlight }: Engine, { id, retryAt }: DoubtfulContent): boolean {
  const now = store.contents.getUploadState(id)
  const isSame = (now.state === 'doubt' || now.state === 'sending') && now.retryAt === retryAt
  return isSame && !inFlight.has(id)
}

function recordFound(
  { store, clock, logger, metrics, fileLog }: Engine,
  { row, runId, settings }: OpenMirror,
  content: DoubtfulContent,
  found: FileEntry,
  summary: SyncSummary,
): void {
  const nowMs = clock.nowMs()
  store.write(() => {
    const stored = {
      resourceId: found.id,
      isDuplicate: false,
      hasSecondLocation: false,
      mirrorId: row.id,
      runId,
      nowMs,
    }
    store.contents.markStored(content.id, stored)
    store.uploads.end(content.uploadId, 'adopted', null, nowMs)
    // Where copies are linked, only the one that was uploaded has its location.
    const { files } = store
    const received =
      settings.duplicates === 'link' ? files.receiveUploaded(content.uploadId) : files.receiveAll(content.id)
    summary.uploads.created += 1
    summary.uploads.aliases += Math.max(0, received - 1)
    summary.uploads.bytes += content.size
  })
  metrics.uploadEnded('adopted', content.size)
  logger.debug('found an earlier upload in the library', { mirror: row.name, path: content.path })
  const { path, size: sizeBytes } = content
  fileLog.sent({ mirror: row.name, path, sizeBytes, resourceId: found.id, isDuplicate: false })
}

/** The content did not arrive: it counts as new, so that any mirror may upload it. */
function recordAbsent({ store, clock, logger, metrics }: Engine, { id, path, size, uploadId }: DoubtfulContent): void {
  store.write(() => {
    store.contents.setState(id, 'new')
    store.uploads.end(uploadId, 'absent', null, clock.nowMs())
  })
  metrics.uploadEnded('absent', size)
  logger.debug('did not find an earlier upload in the library', { path })
}
