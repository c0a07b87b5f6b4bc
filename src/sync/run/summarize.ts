import { RootError, type ShelfdError } from '../../foundation/errors.ts'
import { isoTime } from '../../foundation/text/times.ts'
import { hasChangedUnderWay } from '../../rules/path-problems.ts'
import { type PathProblem, problemOfContent } from '../../rules/problem-groups.ts'
import { type RunOutcome, recordedVerdict, verdictOf } from '../../rules/run-outcome.ts'
import {
  percentileIndex,
  type RunSummary,
  recordHeldBack,
  type SummaryProblem,
  type SyncSummary,
} from '../../rules/sync-summary.ts'
import { countKinds } from '../../rules/without-text.ts'
import type { Engine, OpenMirror } from '../engine.ts'

interface PassFindings {
  readonly problems: readonly PathProblem[]
  /** Whether the pass examined every path; a recorded problem that is not in `problems` is then solved. */
  readonly isComplete: boolean
  /** Whether the pass uploaded anything or followed resources. */
  readonly hasFollowed: boolean
  readonly failure: unknown
}

/** Completes the summary from the store: ingestion, times, and everything that needs attention. */
export function summarize(engine: Engine, mirror: OpenMirror, summary: SyncSummary, found: PassFindings): void {
  if (found.hasFollowed) countIngestion(engine, mirror, summary)
  if (found.failure instanceof RootError) countUnsent(engine, mirror, summary)
  const ofPaths = recordProblems(engine, mirror, found)
  summary.uploads.waiting = ofPaths.filter(({ code }) => hasChangedUnderWay(code)).length
  summary.problems = [...ofPaths, ...listContentProblems(engine, mirror, summary)]
}

function countUnsent({ store }: Engine, { row }: OpenMirror, summary: SyncSummary): void {
  const { n: contents } = store.contents.countToSend(row.id)
  recordHeldBack(summary, contents === 0 ? [] : [{ limit: 'root', value: 0, contents, freesAt: null }])
}

function countIngestion({ store }: Engine, { row, runId }: OpenMirror, summary: SyncSummary): void {
  const { ingestion } = summary
  const withoutText: [mime: string, count: number][] = []
  for (const tally of store.contents.tallyIngestion(runId, row.id)) {
    const { outcome, status, mimeWithoutText, warning, n, files } = tally
    if (mimeWithoutText !== null) {
      withoutText.push([mimeWithoutText, files])
      ingestion.withoutText += n
      continue
    }
    if (outcome === 'searchable' || outcome === 'pending') ingestion.copies[outcome] += Math.max(0, files - n)
    if (outcome === 'searchable') {
      ingestion.searchable += n
      ingestion.warning ??= warning
      if (status === 'completed_with_warnings') ingestion.warnings += n
    } else ingestion[outcome] += n
  }
  ingestion.withoutTextKinds = countKinds(withoutText)
  const count = store.contents.countTimesToSearchable(runId, row.id)
  if (count === 0) return
  const at = (share: number) => store.contents.nthTimeToSearchable(runId, row.id, percentileIndex(count, share))
  summary.timeToSearchableMs = { p50: at(0.5), p95: at(0.95) }
}

/** Records the problems of a pass and, if it was complete, clears all others. Returns those of its problems that are not set aside. */
function recordProblems({ store, clock }: Engine, { row }: OpenMirror, found: PassFindings): SummaryProblem[] {
  const { problems, isComplete } = found
  const paths = new Set(problems.map(({ path }) => path))
  const solved = isComplete ? store.problems.list(row.id).filter(({ path }) => !paths.has(path)) : []
  if (problems.length > 0 || solved.length > 0) {
    store.write(() => {
      for (const { path } of solved) store.problems.clear(row.id, path)
      for (const problem of problems) store.problems.record(row.id, problem, clock.nowMs())
    })
  }
  const setAside = new Set(
    store.problems.list(row.id).flatMap(({ path, isSetAside }) => (isSetAside === 1 ? path : [])),
  )
  const open = problems.filter(({ path }) => !setAside.has(path))
  return open.map((problem) => ({ ...problem, retryAt: null }))
}

/** Returns the problems of contents, and counts them in `uploads`. Leaves out contents that another mirror is uploading now. */
function listContentProblems({ store, inFlight }: Engine, { row }: OpenMirror, { uploads }: SyncSummary) {
  const troubled = store.contents.listTroubled(row.id, row.library.id).filter(({ id }) => !inFlight.has(id))
  return troubled.map((content): SummaryProblem => {
    const { state, problemCode, retryAt } = content
    if (state === 'sending' || problemCode === null) uploads.inDoubt += 1
    else if (state === 'refused' || state === 'doubt') uploads.failed += 1
    return { ...problemOfContent(content), retryAt: isoTime(retryAt) }
  })
}

interface EndedRun {
  readonly runId: number
  readonly startedMs: number
  readonly durationMs: number
  readonly isDryRun: boolean
}

export function recordRun(
  { store, clock }: Engine,
  { runId, startedMs, durationMs, isDryRun }: EndedRun,
  outcome: RunOutcome,
  mirrors: SyncSummary[],
): RunSummary {
  const finishedMs = clock.nowMs()
  const summary: RunSummary = {
    run: runId,
    ...(isDryRun && { dryRun: true }),
    verdict: verdictOf(outcome),
    startedAt: isoTime(startedMs),
    finishedAt: isoTime(finishedMs),
    durationMs,
    mirrors,
  }
  store.write(() => store.runs.finish(runId, recordedVerdict(outcome), summary, finishedMs))
  return summary
}

export function stopProblem({ code, message }: ShelfdError, prefix = ''): SummaryProblem {
  return { path: '', code, message: prefix + message, retryAt: null }
}
