import type { ProblemCount, ProblemsInput, ProblemsPage, ShownProblem } from '../../contract/dashboard.ts'
import { ROWS_A_PAGE } from '../../contract/dashboard-addresses.ts'
import { parentOf } from '../../foundation/files/paths.ts'
import { shellWord } from '../../foundation/text/safe-text.ts'
import { patternOfPath } from '../../local/ignore/ignore-rule.ts'
import { canBeSetAside } from '../../rules/path-problems.ts'
import { causeOf, commonCauseOf } from '../../rules/problem-groups.ts'
import type { StoreReader } from '../../store/open-store.ts'
import {
  type FailedPath,
  listFailedPaths,
  listQuarantine,
  type Quarantined,
  type QuarantinedFile,
} from '../operator/quarantine.ts'

const MAX_COPIES = 5
const MAX_PLACES = 8

interface FoundProblem {
  readonly problem: Problem
  readonly files: readonly QuarantinedFile[]
  readonly quarantined: Quarantined | null
  /** The key of its group by cause. */
  readonly causeKey: string
  /** The keys of its groups by directory: one for each directory of `files`. */
  readonly placeKeys: ReadonlySet<string>
}

type Problem = Omit<FailedPath, 'tries' | 'since'>

type Filter = Omit<ProblemsInput, 'offset'>

function filterProblems(store: StoreReader | undefined, input: Filter) {
  const text = input.text.toLowerCase()
  const matchesText = ({ files }: FoundProblem) => files.some(({ path }) => path.toLowerCase().includes(text))
  const isOfCause = ({ causeKey }: FoundProblem) => input.cause === '' || causeKey === input.cause
  const isOfPlace = ({ placeKeys }: FoundProblem) => input.place === '' || placeKeys.has(input.place)
  const matching = (store ? listProblems(store) : []).filter(matchesText)
  const ofCause = matching.filter(isOfCause)
  const found = ofCause.filter(isOfPlace)
  const open = found.filter(({ problem }) => !problem.isSetAside)
  return { ofPlace: matching.filter(isOfPlace), ofCause, found, open }
}

export function listFailed(store: StoreReader | undefined, filter: Filter): number[] {
  return filterProblems(store, filter).open.flatMap(({ quarantined }) => quarantined?.contentId ?? [])
}

/** Returns one page of problems, those set aside last. If `offset` is beyond the end, returns the last page. */
export function readProblems(store: StoreReader | undefined, input: ProblemsInput): ProblemsPage {
  const { ofPlace, ofCause, found, open } = filterProblems(store, input)
  const setAside = found.filter(({ problem }) => problem.isSetAside)
  const places = countBy(ofCause, ({ placeKeys }) => placeKeys)
  const lastPage = Math.max(0, Math.ceil(found.length / ROWS_A_PAGE) - 1)
  const offset = Math.min(input.offset, lastPage * ROWS_A_PAGE)
  return {
    total: found.length,
    setAside: setAside.length,
    causes: countBy(ofPlace, ({ causeKey }) => [causeKey]),
    places: places.slice(0, MAX_PLACES),
    morePlaces: Math.max(0, places.length - MAX_PLACES),
    problems: [...open, ...setAside].slice(offset, offset + ROWS_A_PAGE).map(toShown),
    failed: open.filter(({ quarantined }) => quarantined).length,
  }
}

function countBy(problems: readonly FoundProblem[], keysOf: (one: FoundProblem) => Iterable<string>): ProblemCount[] {
  const counts = new Map<string, number>()
  for (const problem of problems) {
    for (const key of keysOf(problem)) counts.set(key, (counts.get(key) ?? 0) + 1)
  }
  return [...counts].map(([key, count]) => ({ key, count })).sort((a, b) => b.count - a.count)
}

function listProblems(store: StoreReader): FoundProblem[] {
  const ofPaths = listFailedPaths(store).map((failed) => addKeys(failed, [failed], null))
  return [...listQuarantine(store).flatMap(problemsOfContent), ...ofPaths]
}

function problemsOfContent(quarantined: Quarantined): FoundProblem[] {
  const { code, message, files, isSetAside } = quarantined
  const [first] = files
  return first ? [addKeys({ ...first, code, message, isSetAside }, files, quarantined)] : []
}

function addKeys(problem: Problem, files: readonly QuarantinedFile[], quarantined: Quarantined | null): FoundProblem {
  const causeKey = `${commonCauseOf(problem)} [${problem.code}]`
  const placeKeys = new Set(files.map(({ mirror, path }) => `${mirror}: ${parentOf(path) || '.'}`))
  return { problem, files, quarantined, causeKey, placeKeys }
}

function toShown({ problem, quarantined }: FoundProblem): ShownProblem {
  const { mirror, root, path, code, isSetAside } = problem
  const ignoreLine = path === '' || code === 'name-not-utf8' ? null : patternOfPath(path)
  const content = quarantined && describeContent(quarantined)
  const canSetAside = !isSetAside && (content !== null || canBeSetAside(code))
  const actions = { ignoreLine, command: commandFor(problem), isSetAside, canSetAside }
  return { mirror, root, path, code, cause: causeOf(problem), content, ...actions }
}

function describeContent(quarantined: Quarantined): ShownProblem['content'] {
  const { contentId, stage, resourceId, tries, since, retryAt, files } = quarantined
  const copies = files.slice(1, 1 + MAX_COPIES).map(({ mirror, path }) => `${mirror}: ${path}`)
  const moreCopies = files.length - 1 - copies.length
  return { contentId, stage, resourceId, tries, since, retryAt, copies, moreCopies }
}

function commandFor({ root, path, code }: Problem): string | null {
  if (process.platform === 'win32' || !['EACCES', 'EPERM', 'unreadable'].includes(code)) return null
  return `chmod u+rX ${shellWord(path === '' ? root : `${root}/${path}`)}`
}
