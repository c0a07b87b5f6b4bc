import { inspectRoot } from '../../local/read/inspect-root.ts'
import { isScrubDue } from '../../rules/observe/is-scrub-due.ts'
import { listDoubtful } from '../doubts/resolve-doubts.ts'
import type { Connection, ContentsContext, Engine, MirrorSettings, OpenMirror } from '../engine.ts'
import { createFollower } from '../ingestion/create-follower.ts'
import { hasToFollow } from '../ingestion/has-to-follow.ts'
import type { PathProblem } from '../observe/observation.ts'
import { observe } from '../observe/observe.ts'
import type { Pass } from '../pass.ts'
import { openMirror } from '../pin/open-mirror.ts'
import { NOT_CREATED } from '../pin/pin-mirror.ts'
import { createUploadStage } from '../upload/create-upload-stage.ts'
import { estimateUploads } from '../upload/estimate-uploads.ts'
import type { UploadOptions } from '../upload/upload-options.ts'
import { summarize } from './summarize.ts'

/** Runs one pass over one mirror: observes, creates directories, uploads, follows ingestion, and summarizes. */
export async function syncMirror(engine: Engine, settings: MirrorSettings, pass: Pass): Promise<void> {
  const { summary, options, runId } = pass
  const root = inspectRoot(engine.fs, settings.path)
  const mirror = await openMirror(engine, settings, root, pass)
  const { row } = mirror
  summary.library = { id: row.library.remoteId === NOT_CREATED ? null : row.library.remoteId, name: row.library.name }
  engine.progress.mirror = row.name
  engine.store.write(() => engine.store.runs.join(runId, row.id))
  const problems: PathProblem[] = []
  let isComplete = false
  let hasFollowed = false
  try {
    const isDue = isScrubDue(row.scrubbedAt, engine.scrubIntervalMs, engine.clock.nowMs())
    const scrubs = options.hashEverything || isDue
    // When all local files are hashed again, the remote directories are checked again as well.
    const rechecks = scrubs && !options.isDryRun && engine.store.directories.list(row.id).length > 0
    const scan = await observe(engine, mirror, summary, {
      hashEverything: scrubs,
      acceptsRemovals: options.acceptsRemovals,
      settleMs: null,
    })
    if (mirror.mustPinRoot) engine.store.write(() => engine.store.mirrors.pinRoot(row))
    if (scrubs) engine.store.write(() => engine.store.mirrors.recordScrub(row.id, engine.clock.nowMs()))
    problems.push(...scan.problems)
    hasFollowed = rechecks || hasWork(engine, mirror)
    if (hasFollowed) problems.push(...(await send(engine, mirror, pass, rechecks)))
    isComplete = true
  } finally {
    summarize(engine, mirror, summary, { problems, isComplete, hasFollowed })
  }
}

function hasWork(engine: ContentsContext, mirror: OpenMirror): boolean {
  const { store } = engine
  const { row } = mirror
  const [open] = store.files.listOpen(row.id, { directoryId: 0, name: '' }, 1)
  return (
    open !== undefined ||
    store.directories.countPending(row.id) > 0 ||
    listDoubtful(engine, mirror).length > 0 ||
    hasToFollow(engine, row)
  )
}

async function send(
  engine: Engine,
  mirror: OpenMirror,
  { summary, options, quotaScope, attempts }: Pass,
  rechecksDirectories: boolean,
): Promise<PathProblem[]> {
  const { store, service, signal } = engine
  store.write(() => store.contents.claimPending(mirror.row, mirror.runId))
  if (options.isDryRun) {
    estimateUploads(engine, mirror, summary, quotaScope)
    return []
  }
  const connection = await service.connect(signal)
  const follower = createFollower(engine, connection)
  follower.add(mirror.row)
  const following = follower.run()
  // Errors surface at `await following` below; this catch only prevents an unhandled rejection.
  following.catch(() => {})
  const { waitMs } = options
  const work = { summary, follower, waitMs, quotaScope, attempts, rechecksDirectories }
  const problems = await sendAll(engine, mirror, connection, work).catch(async (error: unknown) => {
    follower.finish(0)
    await following
    throw error
  })
  engine.progress.phase = 'ingestion'
  follower.finish(waitMs)
  await following
  signal.throwIfAborted()
  return problems
}

function sendAll(
  engine: Engine,
  mirror: OpenMirror,
  connection: Connection,
  work: UploadOptions,
): Promise<PathProblem[]> {
  const stage = createUploadStage(engine, mirror, connection, work)
  stage.drain()
  return stage.run()
}
