import { TemporaryError } from '../foundation/errors.ts'
import { formatSize } from '../foundation/units.ts'
import { inspectRoot } from '../local/content-root.ts'
import { DOUBT_ROUNDS } from '../rules/doubt.ts'
import type { SyncSummary } from '../rules/sync-summary.ts'
import type { Connection, Engine, MirrorSettings, OpenMirror } from './engine.ts'
import { IngestionFollower } from './follow-ingestion.ts'
import { makeDirectories } from './make-directories.ts'
import type { PathProblem } from './observe/observation.ts'
import { observe } from './observe/observe.ts'
import { openMirror } from './open-mirror.ts'
import type { Pass, PassOptions } from './pass.ts'
import { NOT_YET_MADE } from './pin-mirror.ts'
import { resolveDoubts } from './resolve-doubts.ts'
import { SendQueue } from './send-queue.ts'
import { summarize } from './summarize.ts'
import { Uploader } from './upload.ts'

const RESERVE_BYTES = 64 * 2 ** 20
const DAY_MS = 24 * 3_600_000

/** One pass over one mirror: observe, plan, make directories, upload, follow ingestion, account. */
export async function syncMirror(engine: Engine, settings: MirrorSettings, pass: Pass): Promise<void> {
  const { summary, options, runId } = pass
  const root = inspectRoot(engine.fs, settings.path)
  const mirror = await openMirror(engine, settings, root, pass)
  const { row } = mirror
  summary.library = { id: row.library.remoteId === NOT_YET_MADE ? null : row.library.remoteId, name: row.library.name }
  engine.progress.mirror = row.name
  engine.store.write(() => engine.store.runs.join(runId, row.id))
  const problems: PathProblem[] = []
  let isComplete = false
  let hasFollowed = false
  try {
    const scrubs = options.hashEverything || isScrubDue(engine, mirror)
    const scan = await observe(engine, mirror, summary, {
      hashEverything: scrubs,
      acceptsRemovals: options.acceptsRemovals,
    })
    if (scrubs) engine.store.write(() => engine.store.mirrors.noteScrub(row.id, engine.clock.nowMs()))
    problems.push(...scan.problems)
    if (scan.secrets > 0)
      engine.logger.warn('left out what looks like a secret', { mirror: row.name, paths: scan.secrets })
    hasFollowed = hasWork(engine, mirror)
    if (hasFollowed) problems.push(...(await send(engine, mirror, summary, options)))
    isComplete = true
  } finally {
    summarize(engine, mirror, summary, { problems, isComplete, hasFollowed })
  }
}

function isScrubDue({ scrubIntervalMs, clock }: Engine, { row }: OpenMirror): boolean {
  return scrubIntervalMs !== null && clock.nowMs() - row.scrubbedAt >= scrubIntervalMs
}

function hasWork({ store, clock }: Engine, { row }: OpenMirror): boolean {
  const [open] = store.files.listOpen(row.id, { directoryId: 0, name: '' }, 1)
  return (
    open !== undefined ||
    store.directories.countUnmade(row.id) > 0 ||
    store.contents.countPending(row) > 0 ||
    store.contents.listDoubtful(row).length > 0 ||
    store.contents.listDueForAnotherLook(row.id, clock.nowMs()).length > 0
  )
}

async function send(
  engine: Engine,
  mirror: OpenMirror,
  summary: SyncSummary,
  options: PassOptions,
): Promise<PathProblem[]> {
  const { store, service, signal } = engine
  store.write(() => store.contents.claimPending(mirror.row, mirror.runId))
  if (options.isDryRun) {
    planOnly(engine, mirror, summary)
    return []
  }
  assertRoom(engine)
  const connection = await service.connect(signal)
  const problems = await makeDirectories(engine, mirror, connection, summary)
  const follower = new IngestionFollower(engine, mirror, connection)
  const following = follower.run()
  // A failure of the follower shows when it is awaited; until then it must not count as unhandled.
  following.catch(() => {})
  try {
    problems.push(...(await uploadAll(engine, mirror, connection, summary, { follower, waitMs: options.waitMs })))
  } catch (error) {
    follower.finish(0)
    await following
    throw error
  }
  engine.progress.phase = 'ingestion'
  follower.finish(options.waitMs)
  await following
  signal.throwIfAborted()
  return problems
}

/** What was sent must be remembered: without room for that, nothing is sent. */
function assertRoom({ store }: Engine): void {
  const freeBytes = store.freeBytes()
  if (freeBytes >= RESERVE_BYTES) return
  const text = `Cannot send anything: only ${formatSize(freeBytes)} are free for the store in "${store.directory}"`
  throw new TemporaryError('disk-full', `${text}, ${formatSize(RESERVE_BYTES)} are kept in reserve`)
}

/** Uploads, looks for what is in doubt, and sends again what is certainly not there; a bounded number of rounds. */
async function uploadAll(
  engine: Engine,
  mirror: OpenMirror,
  connection: Connection,
  summary: SyncSummary,
  { follower, waitMs }: { readonly follower: IngestionFollower; readonly waitMs: number },
): Promise<PathProblem[]> {
  const problems: PathProblem[] = []
  const { progress, store } = engine
  const toSend = store.contents.countToSend(mirror.row.id)
  progress.phase = 'uploading'
  progress.contentsTotal += toSend.n
  progress.bytesTotal += toSend.bytes
  await resolveDoubts(engine, mirror, connection, summary)
  const facts = await connection.client.contractFacts(engine.signal)
  const sent = sentSoFar(engine, mirror)
  for (let round = 1; round <= DOUBT_ROUNDS; round += 1) {
    const queue = new SendQueue(engine, mirror, summary, sent, facts.uploadDirectoryField.field !== undefined)
    const uploader = new Uploader(engine, mirror, connection, { queue, gate: follower, summary, waitMs })
    await uploader.run()
    problems.push(...uploader.problems)
    summary.uploads.heldBack = Math.max(queue.heldBack, uploader.heldBack)
    if (uploader.heldBack > 0 || follower.hasFailed) break
    const absent = await resolveDoubts(engine, mirror, connection, summary)
    // Copies that are to be linked wait until their content is stored: one more round finds them.
    if (absent === 0 && !(queue.links && round === 1)) break
  }
  return problems
}

function sentSoFar({ store, clock }: Engine, { row }: OpenMirror) {
  return { inRun: 0, inDay: store.uploads.countSince(row.library.id, clock.nowMs() - DAY_MS), bytesInRun: 0 }
}

/** The remote path's ancestors are made with the mirror's root; the library's own root always exists. */
function countDirectoriesToMake({ store }: Engine, { row }: OpenMirror): number {
  const [first] = store.directories.listUnmade(row.id)
  const unmade = store.directories.countUnmade(row.id)
  if (first?.path !== '') return unmade
  return row.remotePath === '/' ? unmade - 1 : unmade + row.remotePath.split('/').length - 2
}

/** What would be sent and made, by the same plan; the caller forgets what this writes. */
function planOnly(engine: Engine, mirror: OpenMirror, summary: SyncSummary): void {
  const { store } = engine
  summary.directories.created = countDirectoriesToMake(engine, mirror)
  const queue = new SendQueue(engine, mirror, summary, sentSoFar(engine, mirror), false)
  const planned: number[] = []
  while (!queue.isExhausted) {
    for (const { contentId, sizeBytes, isLink } of queue.take(1_000)) {
      if (isLink) continue
      summary.uploads.created += 1
      summary.uploads.bytes += sizeBytes
      summary.uploads.aliases += store.files.countCopies(contentId) - 1
      planned.push(contentId)
    }
  }
  // Nothing is on its way, so nothing is in doubt.
  for (const contentId of planned) store.contents.setState(contentId, 'new')
  summary.uploads.heldBack = queue.heldBack
}
