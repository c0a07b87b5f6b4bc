import type { FileEntry } from '../../contract/records.ts'
import { INBOX_PATH } from '../../contract/routes.ts'
import { RejectedError, type ShelfdError, TemporaryError } from '../../foundation/errors.ts'
import { nameOf } from '../../foundation/files/paths.ts'
import { escapeText } from '../../foundation/text/safe-text.ts'
import { quarantineDurationMs } from '../../rules/failure/quarantine-duration.ts'
import type { SyncSummary } from '../../rules/run/sync-summary.ts'
import { listCandidates, needsLook, rankCandidate } from '../../rules/upload/doubt.ts'
import type { DoubtfulContent } from '../../store/tables/contents.ts'
import type { ResourceBytes } from '../../store/tables/untracked.ts'
import type { Connection, Engine, OpenMirror } from '../engine.ts'
import type { RunAttempts } from '../pass.ts'
import { findSame } from './find-same.ts'
import { isKnownAsOther, type Look, lookAt, readRemoteBytes } from './remote-bytes.ts'

/** Bounds of a look: pages of one listing (two million entries), and entries that may be a content in doubt. */
const MOST_PAGES = 4_000
const MOST_STRANGERS = 100_000

/** Listed entries that may be a content in doubt, and what was read of them. */
interface UntrackedEntries {
  readonly entries: FileEntry[]
  /** By resource, so that each is read once, even if it might be several contents. */
  readonly read: Map<string, ResourceBytes>
}

/**
 * Looks for the resources of uploads in doubt (P4): lists the directory of each, and compares untracked entries by name,
 * kind, size and hash. Adopts a content that it finds; one that a complete listing doesn't show may be uploaded once more;
 * one whose look fails becomes a problem. Returns the number of contents that may be uploaded.
 */
export async function resolveDoubts(
  engine: Engine,
  mirror: OpenMirror,
  connection: Connection,
  { summary, attempts }: { readonly summary: SyncSummary; readonly attempts: RunAttempts },
): Promise<number> {
  const doubtful = listDoubtful(engine, mirror).filter(({ id }) => !attempts.exhausted.has(id))
  if (doubtful.length === 0) return 0
  let resendable = 0
  for (const [place, contents] of Map.groupBy(doubtful, (content) => content.place ?? INBOX_PATH)) {
    const untracked = await lookAt(engine, mirror, connection, () =>
      listUntracked(engine, mirror, connection, { place, contents }),
    )
    for (const content of contents) {
      const look =
        'failure' in untracked ? untracked : await lookFor(engine, mirror, connection, content, untracked.seen)
      if (!isStillInDoubt(engine, content)) continue
      if ('failure' in look) recordUnseen(engine, content, look.failure, attempts)
      else if (look.seen) recordFound(engine, mirror, content, look.seen, summary)
      else {
        recordAbsent(engine, content)
        resendable += 1
      }
    }
  }
  return resendable
}

/** Lists the contents of a mirror to look for: in doubt, not in flight, not set aside, not in quarantine. */
export function listDoubtful({ store, clock, inFlight }: Engine, { row }: Pick<OpenMirror, 'row'>): DoubtfulContent[] {
  const nowMs = clock.nowMs()
  return store.contents.listDoubtful(row).filter((content) => !inFlight.has(content.id) && needsLook(content, nowMs))
}

/** Lists the entries of a directory that the store does not know and that may be one of the contents. */
async function listUntracked(
  { store, signal }: Engine,
  { row }: OpenMirror,
  { client }: Connection,
  { place, contents }: { readonly place: string; readonly contents: readonly DoubtfulContent[] },
): Promise<UntrackedEntries> {
  const entries: FileEntry[] = []
  const sought = contents.map(({ path, mime }) => ({ name: nameOf(path), mime }))
  const mayBeOne = (entry: FileEntry) =>
    !store.contents.findByResource(row.library.id, entry.id) &&
    sought.some((upload) => rankCandidate(entry, upload) !== undefined)
  let pages = 0
  try {
    for await (const { files } of client.listDirectory(row.library.remoteId, place, signal)) {
      entries.push(...files.filter(mayBeOne))
      pages += 1
      if (pages > MOST_PAGES || entries.length > MOST_STRANGERS)
        throw new TemporaryError(
          'answer-malformed',
          `Cannot list "${escapeText(place)}": it is too long to be looked through`,
        )
    }
  } catch (error) {
    // A directory that does not exist holds nothing.
    if (!(error instanceof RejectedError && error.status === 404)) throw error
  }
  return { entries, read: new Map() }
}

/** Looks for one content among the entries, and removes the entry that it finds from them. */
async function lookFor(
  engine: Engine,
  mirror: OpenMirror,
  connection: Connection,
  content: DoubtfulContent,
  { entries, read }: UntrackedEntries,
): Promise<Look<FileEntry | undefined>> {
  const { path, mime, doubts } = content
  const compare = (entry: FileEntry) =>
    lookAt(engine, mirror, connection, () => hasSameBytes(engine, connection, content, { id: entry.id, read }))
  const look = await findSame({ candidates: listCandidates(entries, { name: nameOf(path), mime }), compare, doubts })
  if ('seen' in look && look.seen) entries.splice(entries.indexOf(look.seen), 1)
  return look
}

async function hasSameBytes(
  engine: Engine,
  connection: Connection,
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

/** While this mirror looked, another mirror of the library may have found the content or begun to upload it. */
function isStillInDoubt({ store, inFlight }: Engine, { id, retryAt }: DoubtfulContent): boolean {
  const now = store.contents.getUploadState(id)
  const isSame = (now.state === 'doubt' || now.state === 'sending') && now.retryAt === retryAt
  return isSame && !inFlight.has(id)
}

function recordFound(
  { store, clock, logger, metrics, fileLog }: Engine,
  { row, runId }: OpenMirror,
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
    const received = store.files.receiveAll(content.id)
    summary.uploads.created += 1
    summary.uploads.aliases += Math.max(0, received - 1)
    summary.uploads.bytes += content.size
  })
  metrics.uploadEnded('adopted', content.size)
  logger.debug('an earlier upload was found there', { mirror: row.name, path: content.path })
  const { path, size: sizeBytes } = content
  fileLog.sent({ mirror: row.name, path, sizeBytes, resourceId: found.id, isDuplicate: false })
}

/** The look failed: the content stays in doubt, is not uploaded, and is looked for again after a quarantine. */
function recordUnseen(
  { store, clock, logger }: Engine,
  { id, path }: DoubtfulContent,
  failure: ShelfdError,
  { exhausted }: RunAttempts,
): void {
  exhausted.add(id)
  const quarantines = store.contents.getUploadState(id).problemCount
  const message = `It is not known whether the service stored it: ${failure.message}`
  const retryAt = clock.nowMs() + quarantineDurationMs(quarantines, failure.code)
  store.write(() => store.contents.setProblem(id, { code: failure.code, message, retryAt }))
  logger.warn('an earlier upload cannot be looked for', { path, code: failure.code, reason: failure.message })
}

/** The content did not arrive: it counts as new, so that any mirror may upload it. */
function recordAbsent({ store, clock, logger, metrics }: Engine, { id, path, size, uploadId }: DoubtfulContent): void {
  store.write(() => {
    store.contents.setState(id, 'new')
    store.uploads.end(uploadId, 'absent', null, clock.nowMs())
  })
  metrics.uploadEnded('absent', size)
  logger.debug('an earlier upload was not found there', { path })
}
