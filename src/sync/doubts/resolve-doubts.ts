import type { FileEntry } from '../../contract/records.ts'
import { INBOX_PATH } from '../../contract/routes.ts'
import { RejectedError, type ShelfdError, TemporaryError } from '../../foundation/errors.ts'
import { nameOf } from '../../foundation/paths.ts'
import { needsLook, rankCandidate } from '../../rules/doubt.ts'
import { quarantinePause } from '../../rules/quarantine-pause.ts'
import type { SyncSummary } from '../../rules/sync-summary.ts'
import type { DoubtfulContent } from '../../store/contents.ts'
import type { Connection, Engine, OpenMirror } from '../engine.ts'
import type { RunAttempts } from '../pass.ts'
import { type Look, lookAt, readRemoteBytes } from './remote-bytes.ts'

/** Bounds of a look: pages of one listing, and candidates that are downloaded to be compared. */
const MOST_PAGES = 40
const MOST_CANDIDATES = 8

/**
 * Looks for what uploads in doubt may have left behind (P4): lists where each would have landed, and compares entries
 * that nobody knows by name, kind, size and hash. One that is found is adopted; one that a complete listing doesn't
 * show, or that can't be looked for within bounds, may be sent once more. Gives the number of those.
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
    const strangers = await lookAt(engine, mirror, connection, () => listStrangers(engine, mirror, connection, place))
    for (const content of contents) {
      const look =
        'failure' in strangers ? strangers : await lookFor(engine, mirror, connection, content, strangers.seen)
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

/** Contents of a mirror to look for: not known whether they arrived, not on their way, and not in quarantine after a look. */
export function listDoubtful({ store, clock, underWay }: Engine, { row }: Pick<OpenMirror, 'row'>): DoubtfulContent[] {
  const nowMs = clock.nowMs()
  return store.contents.listDoubtful(row).filter((content) => !underWay.has(content.id) && needsLook(content, nowMs))
}

/** Entries of a directory that are no resource the store knows. */
async function listStrangers(
  { store, signal }: Engine,
  { row }: OpenMirror,
  { client }: Connection,
  path: string,
): Promise<FileEntry[]> {
  const strangers: FileEntry[] = []
  let pages = 0
  try {
    for await (const page of client.listDirectory(row.library.remoteId, path, signal)) {
      strangers.push(...page.files.filter(({ id }) => !store.contents.findByResource(row.library.id, id)))
      pages += 1
      if (pages === MOST_PAGES) break
    }
  } catch (error) {
    // A directory that isn't there holds nothing.
    if (!(error instanceof RejectedError && error.status === 404)) throw error
  }
  return strangers
}

/** Takes what it finds out of `strangers`. */
async function lookFor(
  engine: Engine,
  mirror: OpenMirror,
  connection: Connection,
  content: DoubtfulContent,
  strangers: FileEntry[],
): Promise<Look<FileEntry | undefined>> {
  let failure: ShelfdError | undefined
  for (const entry of listCandidates(content, strangers)) {
    const look = await lookAt(engine, mirror, connection, () => hasSameBytes(engine, connection, content, entry.id))
    // One that the service will not give cannot be compared, and stands in the way once; one that it fails to give may be
    // compared another time.
    if ('failure' in look) {
      if (look.failure instanceof TemporaryError || content.doubts > 1) failure ??= look.failure
    } else if (look.seen) {
      strangers.splice(strangers.indexOf(entry), 1)
      return { seen: entry }
    }
  }
  return failure ? { failure } : { seen: undefined }
}

function listCandidates(content: DoubtfulContent, strangers: readonly FileEntry[]): FileEntry[] {
  const name = nameOf(content.path)
  const ranked = strangers.flatMap((entry) => {
    const rank = rankCandidate(entry, { name, mime: content.mime })
    return rank === undefined ? [] : [{ entry, rank }]
  })
  ranked.sort((a, b) => a.rank - b.rank)
  return ranked.slice(0, MOST_CANDIDATES).map(({ entry }) => entry)
}

async function hasSameBytes(
  engine: Engine,
  connection: Connection,
  content: DoubtfulContent,
  resourceId: string,
): Promise<boolean> {
  const found = await readRemoteBytes(engine, connection, resourceId, content)
  return found?.sha256 !== undefined && content.sha256.equals(found.sha256)
}

/** While this mirror looked, another one of the library may have found the content, or begun to send it again. */
function isStillInDoubt({ store, underWay }: Engine, { id, retryAt }: DoubtfulContent): boolean {
  const now = store.contents.getStanding(id)
  const isSame = (now.state === 'doubt' || now.state === 'sending') && now.retryAt === retryAt
  return isSame && !underWay.has(id)
}

function recordFound(
  { store, clock, logger, metrics: meter, fileLog }: Engine,
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
  meter.uploadEnded('adopted', content.size)
  logger.debug('an earlier upload was found there', { mirror: row.name, path: content.path })
  const { path, size: sizeBytes } = content
  fileLog.sent({ mirror: row.name, path, sizeBytes, resourceId: found.id, isDuplicate: false })
}

/** It could not be looked for: it stays in doubt, is not sent, and is looked for after a quarantine. */
function recordUnseen(
  { store, clock, logger }: Engine,
  { id, path }: DoubtfulContent,
  failure: ShelfdError,
  { exhausted }: RunAttempts,
): void {
  exhausted.add(id)
  const quarantines = store.contents.getStanding(id).problemCount
  const message = `It is not known whether the service stored it: ${failure.message}`
  const retryAt = clock.nowMs() + quarantinePause(quarantines, failure.code)
  store.write(() => store.contents.setProblem(id, { code: failure.code, message, retryAt }))
  logger.warn('an earlier upload cannot be looked for', { path, code: failure.code, reason: failure.message })
}

/** Whoever sends next may send it again. */
function recordAbsent(
  { store, clock, logger, metrics: meter }: Engine,
  { id, path, size, uploadId }: DoubtfulContent,
): void {
  store.write(() => {
    store.contents.setState(id, 'new')
    store.uploads.end(uploadId, 'absent', null, clock.nowMs())
  })
  meter.uploadEnded('absent', size)
  logger.debug('an earlier upload was not found there', { path })
}
