import { nameOf, parentOf } from '../../foundation/files/paths.ts'
import { IdSet } from '../../foundation/id-set.ts'
import { openAnsweringRoot } from '../../local/read/open-and-recheck-root.ts'
import type { UploadLimits } from '../../rules/limits.ts'
import type { PathProblem } from '../../rules/problem-groups.ts'
import { emptySummary, recordHeldBack, type SyncSummary } from '../../rules/sync-summary.ts'
import type { Store } from '../../store/open-store.ts'
import { OPEN_FILES_START } from '../../store/tables/files.ts'
import type { Engine, MirrorContext, MirrorSettings, OpenMirror } from '../engine.ts'
import { previewClaims } from '../fleet/ledger-answers.ts'
import { hasToFollow, IngestionFollower } from '../ingestion/follow-ingestion.ts'
import { listDirectoriesToCreate } from '../library/create-directories.ts'
import { newAttempts, type Pass, type QuotaScope, type UploadOptions } from '../pass.ts'
import { openMirror } from '../pin/open-mirror.ts'
import { NOT_CREATED } from '../pin/pin-mirror.ts'
import { recordRescan } from '../scan/record-batches.ts'
import { groupByDirectory } from '../scan/rescan-entries.ts'
import { scanMirror, walkOptions, warnOfUnmatched } from '../scan/scan-mirror.ts'
import { silentFileLog } from '../sinks.ts'
import { hasToUpload } from '../upload/prepare-uploads.ts'
import { UploadPlan } from '../upload/upload-plan.ts'
import { UploadStage } from '../upload/upload-stage.ts'
import { summarize } from './summarize.ts'

/** Runs one pass over one mirror: scans, creates directories, uploads, follows ingestion, and summarizes. */
export async function syncMirror(engine: Engine, settings: MirrorSettings, pass: Pass): Promise<void> {
  const { summary, options, runId } = pass
  using root = await openAnsweringRoot(engine.fs, settings.path, engine)
  const mirror = await openMirror(engine, settings, root, pass)
  const { row } = mirror
  summary.library = { id: row.library.remoteId === NOT_CREATED ? null : row.library.remoteId, name: row.library.name }
  engine.progress.mirror = row.name
  engine.store.write(() => engine.store.runs.join(runId, row.id))
  const problems = new Map<string, PathProblem>()
  let isComplete = false
  let hasFollowed = false
  let failure: unknown
  try {
    const scan = await scanMirror(engine, mirror, summary, { ...options, settleMs: options.minAgeMs })
    summary.files.tooNew = scan.unsettledCount
    if (scan.unmatched.length > 0) warnOfUnmatched(engine.logger, row.name, scan.unmatched)
    const tooNew = options.minAgeMs === null ? undefined : new Set(scan.unsettled.map(({ path }) => path))
    // When all local files are hashed again, the remote directories are checked again as well.
    const mustRecheck = scan.hasHashedAll && !scan.isFirst && !options.isDryRun
    addProblems(problems, scan.problems)
    const byScan = new Set(scan.problems.filter(({ code }) => code === 'busy').map(({ path }) => path))
    // If a file only waits for its retry, the pass connects as well, to report a service that is away or refuses the credential.
    const hasOpen = engine.store.files.listOpen(row.id, OPEN_FILES_START, 1).length > 0
    hasFollowed = mustRecheck || byScan.size > 0 || hasOpen || hasToUpload(engine, mirror) || hasToFollow(engine, row)
    if (hasFollowed) await send(engine, mirror, pass, { problems, byScan, tooNew, rechecksDirectories: mustRecheck })
    isComplete = true
  } catch (error) {
    failure = error
    throw error
  } finally {
    summarize(engine, mirror, summary, { problems: [...problems.values()], isComplete, hasFollowed, failure })
  }
}

interface Sending {
  /** Problems by path; uploads add theirs. */
  readonly problems: Map<string, PathProblem>
  /** Paths of files that changed while the scan read them. */
  readonly byScan: Set<string>
  /** Paths of files that changed too recently, and are left to a later run; undefined without a minimum age. */
  readonly tooNew: Set<string> | undefined
  readonly rechecksDirectories: boolean
}

async function send(
  engine: Engine,
  mirror: OpenMirror,
  { summary, options, quotaScope, attempts, followed }: Pass,
  sending: Sending,
): Promise<void> {
  const { store, service, signal } = engine
  store.write(() => store.contents.claimPending(mirror.row, mirror.runId))
  if (options.isDryRun) {
    if (engine.fleet) {
      engine.progress.phase = 'ledger'
      await previewClaims({ engine, mirror }, engine.fleet, summary)
    }
    estimateUploads(engine, mirror, summary, quotaScope)
    return
  }
  if (service.isEmbedded) await askBeforeUploads(engine, mirror)
  const connection = await service.connect(signal)
  const follower = new IngestionFollower(engine, connection)
  follower.add(mirror.row)
  // Resources of earlier mirrors take up ingestion capacity until they are polled.
  const earlier = [...followed]
  for (const row of earlier) follower.add(row)
  followed.push(mirror.row)
  const following = follower.run()
  // Errors surface at `await following` below; this catch only prevents an unhandled rejection.
  following.catch(() => {})
  const { waitMs } = options
  const { rechecksDirectories } = sending
  const uploadOptions = { summary, follower, waitMs, quotaScope, attempts, rechecksDirectories }
  await sendAll({ engine, mirror, connection }, uploadOptions, sending).catch(async (error: unknown) => {
    follower.finish(0)
    await following
    throw error
  })
  for (const { id } of earlier) follower.remove(id)
  engine.progress.phase = 'ingestion'
  follower.finish(waitMs)
  await following
  signal.throwIfAborted()
}

async function askBeforeUploads({ store, progress, beforeUploads }: Engine, { row }: OpenMirror): Promise<void> {
  if (!beforeUploads) return
  const { phase } = progress
  progress.phase = 'asking'
  await beforeUploads(store.contents.countToSend(row.id).bytes)
  progress.phase = phase
}

async function sendAll(
  context: MirrorContext,
  uploadOptions: UploadOptions,
  { problems, byScan, tooNew }: Sending,
): Promise<void> {
  const { engine, mirror } = context
  const byUpload = new Set<string>()
  const onUnread = (path: string) => void byUpload.add(path)
  const upload = async (options: UploadOptions) => {
    const stage = new UploadStage(context, { ...options, onUnread })
    stage.drain()
    try {
      await stage.run()
    } finally {
      addProblems(problems, stage.problems)
    }
  }
  await upload(uploadOptions)
  if (byScan.size + byUpload.size === 0) return
  if (tooNew) {
    // These files are being written, so their present contents are not sent.
    for (const path of [...byScan, ...byUpload]) {
      if (problems.get(path)?.code === 'vanished') continue
      problems.delete(path)
      tooNew.add(path)
    }
    uploadOptions.summary.files.tooNew = Math.max(uploadOptions.summary.files.tooNew ?? 0, tooNew.size)
    return
  }
  const { store } = engine
  const unsent = [...byUpload].map((path) => ({
    path,
    problem: problems.get(path),
    before: findFile(store, mirror, path),
  }))
  const found = await readAgain(engine, mirror, { byScan, byUpload }, uploadOptions.summary)
  for (const path of [...byScan, ...byUpload]) problems.delete(path)
  addProblems(problems, found)
  await upload({ ...uploadOptions, rechecksDirectories: false })
  for (const { path, problem, before } of unsent) {
    const now = findFile(store, mirror, path)
    const isAsBefore = now?.isReceived === 0 && now.contentId === before?.contentId
    if (problem && isAsBefore && !problems.has(path)) problems.set(path, problem)
  }
}

function findFile({ directories, files }: Store, { row }: OpenMirror, path: string) {
  const directoryId = directories.find(row.id, parentOf(path))
  return directoryId === undefined ? undefined : files.find(directoryId, nameOf(path))
}

function addProblems(problems: Map<string, PathProblem>, found: readonly PathProblem[]): void {
  for (const problem of found) problems.set(problem.path, problem)
}

/** Paths of files that changed while a pass read them. */
interface ChangedFiles {
  /** The scan could not hash these files. */
  readonly byScan: Set<string>
  /** The scan hashed these files, but they had changed or vanished when they were to be uploaded. */
  readonly byUpload: Set<string>
}

/** The most that a run waits for a file to settle. `settle` may be longer, to limit the number of versions of a file. */
const MAX_SETTLE_MS = 5_000

/**
 * Waits for the settle time, then reads the files once more and records them, so that they can be uploaded. Returns the problems of files
 * that are still unreadable. Missing files stay recorded, because only a scan removes them (P11, files hidden by an error).
 */
async function readAgain(
  engine: Engine,
  mirror: OpenMirror,
  { byScan, byUpload }: ChangedFiles,
  summary: SyncSummary,
): Promise<PathProblem[]> {
  const { clock, signal, logger } = engine
  const settleMs = Math.min(mirror.settings.settleMs, MAX_SETTLE_MS)
  // The summary already counts the files that the scan hashed, but not those that it could not hash.
  const countedBefore = [...byUpload].filter((path) => !byScan.has(path))
  const files = byScan.size + countedBefore.length
  logger.info('files changed while they were read; they are read again', { mirror: mirror.row.name, files, settleMs })
  await clock.sleep(settleMs, signal)
  const recount = emptySummary(summary)
  const problems = [
    ...(await rescan(engine, mirror, [...byScan], summary)),
    ...(await rescan(engine, mirror, countedBefore, recount)),
  ]
  summary.files.hashed += recount.files.hashed
  const { unchanged, new: fresh, changed, moved } = summary.files
  summary.files.scanned = unchanged + fresh + changed + moved
  return problems
}

async function rescan(
  engine: Engine,
  mirror: OpenMirror,
  paths: readonly string[],
  summary: SyncSummary,
): Promise<PathProblem[]> {
  const { store, signal } = engine
  const problems: PathProblem[] = []
  if (paths.length === 0) return problems
  const options = walkOptions(engine, mirror, { hashEverything: false, isNew: false, settleMs: null })
  await using rescanner = engine.openRescanner(options)
  const entries = groupByDirectory(store, mirror.row.id, paths)
  for await (const batch of rescanner.rescan({ kind: 'entries', entries, root: mirror.root.place }, signal)) {
    recordRescan(engine, mirror, batch, summary)
    problems.push(...batch.problems)
  }
  return problems
}

function estimateUploads(engine: Engine, mirror: OpenMirror, summary: SyncSummary, quotaScope: QuotaScope): void {
  const { store } = engine
  summary.directories.created = countDirectoriesToCreate(engine, mirror)
  const all =
    isUnlimited(engine.limits) && engine.fileLog === silentFileLog
      ? store.contents.tallyIfNew(mirror.row.id)
      : undefined
  if (all) {
    summary.uploads.created += all.contents
    summary.uploads.bytes += all.bytes
    summary.uploads.aliases += all.copies - all.contents
    return
  }
  const plan = new UploadPlan(engine, mirror, { summary, quotaScope, attempts: newAttempts(), needsDirectory: false })
  const estimated = new IdSet()
  while (!plan.isExhausted) {
    for (const { contentId, path, sizeBytes } of plan.planNext(1_000)) {
      summary.uploads.created += 1
      summary.uploads.bytes += sizeBytes
      summary.uploads.aliases += store.files.countCopies(contentId) - 1
      estimated.add(contentId)
      engine.fileLog.wouldSend({ mirror: mirror.row.name, path, sizeBytes })
    }
  }
  // The plan has set these contents to `sending`, but a dry run sends nothing.
  for (const contentId of estimated) store.contents.setState(contentId, 'new')
  recordHeldBack(summary, plan.listHeldBack())
}

function isUnlimited({ newPerRun, newPerDay, newBytesPerRun }: UploadLimits): boolean {
  return newPerRun === null && newPerDay === null && newBytesPerRun === null
}

/** If the mirror's root is to be created, counts the ancestors of the remote path as well. */
function countDirectoriesToCreate({ store }: Engine, mirror: OpenMirror): number {
  const pending = listDirectoriesToCreate(store, mirror)
  const { row } = mirror
  if (pending[0] !== '') return pending.length
  return row.remotePath === '/' ? pending.length - 1 : pending.length + row.remotePath.split('/').length - 2
}
