import { errorCodes, rebuildError, ShelfdError } from '../foundation/errors.ts'
import { counted, escapeText } from '../foundation/text/safe-text.ts'
import { type Cause, type MirrorSituation, mirrorKey } from './notices.ts'
import { needsPerson } from './path-problems.ts'
import { reactToFailure } from './react-to-failure.ts'
import { runOutcome } from './run-outcome.ts'
import type { SummaryProblem, SyncSummary } from './sync-summary.ts'

/** How many paths a message names. */
const MAX_PATHS = 3

export interface RunFindings {
  readonly causes: readonly Cause[]
  /** Keys of causes that the run has checked. */
  readonly judged: ReadonlySet<string>
  readonly mirrors: readonly MirrorSituation[]
}

/** Finds causes in a run. A mirror that stopped only because the service was away has none. */
export function causesOfRun(summaries: readonly SyncSummary[], nowMs: number): RunFindings {
  const causes: Cause[] = []
  const judged = new Set<string>()
  const mirrors = summaries.map((summary): MirrorSituation => {
    const { name } = summary
    const stops = summary.problems.filter(({ path }) => path === '')
    causes.push(...stops.flatMap((problem) => causeOfStop(problem, name) ?? []))
    if (stops.length === 0) {
      for (const key of ['service', 'store', mirrorKey('mirror', name), mirrorKey('files', name)]) judged.add(key)
      causes.push(...causeOfFiles(name, summary.problems))
    }
    const isUpToDate = stops.length === 0 && runOutcome([summary], false) === 'done'
    return { name, state: isUpToDate ? 'up-to-date' : 'behind', triedAt: nowMs }
  })
  return { causes, judged, mirrors }
}

/** Returns undefined for an error that ends by itself. */
function causeOfStop({ code, message }: SummaryProblem, mirror: string): Cause | undefined {
  const error = errorCodes.some((each) => each === code) ? rebuildError(code, message) : undefined
  const ofMirror = { key: mirrorKey('mirror', mirror), code, message: `${mirror}: ${message}` }
  if (!(error instanceof ShelfdError)) return ofMirror
  switch (reactToFailure(error).scope) {
    case 'service':
      return error.kind === 'access' ? { key: 'service', code, message } : undefined
    case 'store':
    case 'program':
      return { key: 'store', code, message }
    case 'run':
      return undefined
    default:
      return ofMirror
  }
}

/** Returns one cause for all files of a mirror that need a person. With ten times as many files it is another cause. */
export function causeOfFiles(
  mirror: string,
  problems: readonly { readonly path?: string; readonly code: string; readonly count?: number }[],
): Cause[] {
  const found = problems.filter(({ code }) => needsPerson(code))
  const count = found.reduce((sum, one) => sum + (one.count ?? 1), 0)
  if (count === 0) return []
  const named = found
    .slice(0, MAX_PATHS)
    .map(({ path, code }) => (path === undefined ? code : `${escapeText(path)} (${code})`))
  const needs = count === 1 ? 'needs' : 'need'
  const more = found.length > MAX_PATHS ? ', …' : ''
  const message = `${mirror}: ${counted(count, 'file')} ${needs} attention: ${named.join(', ')}${more}`
  const code = count < 10 ? '' : `${10 ** Math.floor(Math.log10(count))} or more`
  return [{ key: mirrorKey('files', mirror), code, message }]
}
