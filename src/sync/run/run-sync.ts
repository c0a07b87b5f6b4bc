import { ShelfdError } from '../../foundation/errors.ts'
import { reactToFailure } from '../../rules/react-to-failure.ts'
import { type RunOutcome, runOutcome, stoppedOutcome } from '../../rules/run-outcome.ts'
import { emptySummary, type RunSummary, type SyncSummary } from '../../rules/sync-summary.ts'
import type { Engine, MirrorSettings } from '../engine.ts'
import { newAttempts, type Pass, type PassOptions } from '../pass.ts'
import { recordRun, stopProblem } from './summarize.ts'
import { syncMirror } from './sync-mirror.ts'
import { withHooks } from './with-hooks.ts'

export interface RunResult {
  readonly summary: RunSummary
  readonly outcome: RunOutcome
  /** The first error that stopped the run or one mirror. */
  readonly failure: ShelfdError | undefined
}

/** Syncs mirrors one after the other. A dry run uploads nothing and rolls back what it wrote to the store. */
export async function runSync(
  engine: Engine,
  mirrors: readonly MirrorSettings[],
  options: PassOptions,
): Promise<RunResult> {
  if (!options.isDryRun) return runAll(engine, mirrors, options)
  return engine.store.rollBackAfter(() => runAll(engine, mirrors, options))
}

async function runAll(engine: Engine, mirrors: readonly MirrorSettings[], options: PassOptions): Promise<RunResult> {
  const { store, clock } = engine
  const startedMs = clock.nowMs()
  const startMs = clock.monotonicMs()
  const runId = store.write(() => store.runs.begin(startedMs))
  const quotaScope = { kind: 'run', runId, afterUploadId: store.uploads.lastId() } as const
  const { summaries, failure } = await syncEach(engine, mirrors, {
    runId,
    quotaScope,
    attempts: newAttempts(),
    followed: [],
    options,
  })
  const outcome = failure ? stoppedOutcome(failure) : runOutcome(summaries, options.waitMs > 0 && !options.isDryRun)
  const durationMs = Math.round(clock.monotonicMs() - startMs)
  const run = { runId, startedMs, durationMs, isDryRun: options.isDryRun }
  const summary = recordRun(engine, run, outcome, summaries)
  engine.progress.phase = 'finished'
  return { summary, outcome, failure }
}

/** Returns a summary of each mirror. An error of one mirror (its root, a guard) ends only its pass; other errors stop the run. */
async function syncEach(engine: Engine, mirrors: readonly MirrorSettings[], run: Omit<Pass, 'summary'>) {
  const summaries: SyncSummary[] = []
  let failure: ShelfdError | undefined
  let stopped: ShelfdError | undefined
  for (const mirror of mirrors) {
    const { name, path, remotePath, library } = mirror
    const summary = emptySummary({ name, path, library: { id: null, name: library }, remotePath })
    summaries.push(summary)
    if (stopped) {
      if (stoppedOutcome(stopped) === 'failures')
        summary.problems.push(stopProblem(stopped, 'Not synced, because the run ended before: '))
      continue
    }
    try {
      const { isDryRun } = run.options
      await withHooks(engine, mirror, { summary, isDryRun }, () => syncMirror(engine, mirror, { ...run, summary }))
    } catch (error) {
      if (!(error instanceof ShelfdError)) throw error
      // An interruption or a limit that stopped the run is not a problem of the mirror.
      if (stoppedOutcome(error) === 'failures') summary.problems.push(stopProblem(error))
      failure ??= error
      if (reactToFailure(error).stopsRun) stopped = error
    }
  }
  return { summaries, failure }
}
