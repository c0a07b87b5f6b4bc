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

interface Found {
  readonly trouble: Trouble
  readonly files: readonly QuarantinedFile[]
  readonly quarantined: Quarantined | null
  /** The keys of its groups: of its cause, and of each directory of its files. */
  readonly byCause: string
  readonly byPlace: ReadonlySet<string>
}

type Trouble = Omit<FailedPath, 'tries' | 'since'>

type Filter = Omit<ProblemsInput, 'offset'>

function filterProblems(store: StoreReader | undefined, input: Filter) {
  const text = input.text.toLowerCase()
  const isNamed = ({ files }: Found) => files.some(({ path }) => path.toLowerCase().includes(text))
  const isOfCause = ({ byCause }: Found) => input.cause === '' || byCause === input.cause
  const isOfPlace = ({ byPlace }: Found) => input.place === '' || byPlace.has(input.place)
  const named = (store ? listProblems(store) : []).filter(isNamed)
  const ofCause = named.filter(isOfCause)
  const found = ofCause.filter(isOfPlace)
  const open = found.filter(({ trouble }) => !trouble.isSetAside)
  return { ofPlace: named.filter(isOfPlace), ofCause, found, open }
}

export function listFailed(store: StoreReader | undefined, filter: Filter): number[] {
  return filterProblems(store, filter).open.flatMap(({ quarantined }) => quarantined?.contentId ?? [])
}

/** Answers one page of problems. What was set aside comes last; a page beyond the end is the last one. */
export function readProblems(store: StoreReader | undefined, input: ProblemsInput): ProblemsPage {
  const { ofPlace, ofCause, found, open } = filterProblems(store, input)
  const setAside = found.filter(({ trouble }) => trouble.isSetAside)
  const places = countBy(ofCause, ({ byPlace }) => byPlace)
  const lastPage = Math.max(0, Math.ceil(found.length / ROWS_A_PAGE) - 1)
  const offset = Math.min(input.offset, lastPage * ROWS_A_PAGE)
  return {
    total: found.length,
    setAside: setAside.length,
    causes: countBy(ofPlace, ({ byCause }) => [byCause]),
    places: places.slice(0, MAX_PLACES),
    morePlaces: Math.max(0, places.length - MAX_PLACES),
    problems: [...open, ...setAside].slice(offset, offset + ROWS_A_PAGE).map(shown),
    failed: open.filter(({ quarantined }) => quarantined).length,
  }
}

function countBy(problems: readonly Found[], keysOf: (problem: Found) => Iterable<string>): ProblemCount[] {
  const counts = new Map<string, number>()
  for (const problem of problems) {
    for (const key of keysOf(problem)) counts.set(key, (counts.get(key) ?? 0) + 1)
  }
  return [...counts].map(([key, count]) => ({ key, count })).sort((a, b) => b.count - a.count)
}

function listProblems(store: StoreReader): Found[] {
  const paths = listFailedPaths(store).map((failed) => grouped(failed, [failed], null))
  return [...listQuarantine(store).flatMap(contentProblem), ...paths]
}

function contentProblem(quarantined: Quarantined): Found[] {
  const { code, message, files, isSetAside } = quarantined
  const [first] = files
  return first ? [grouped({ ...first, code, message, isSetAside }, files, quarantined)] : []
}

function grouped(trouble: Trouble, files: readonly QuarantinedFile[], quarantined: Quarantined | null): Found {
  const byCause = `${commonCauseOf(trouble)} [${trouble.code}]`
  const byPlace = new Set(files.map(({ mirror, path }) => `${mirror}: ${parentOf(path) || '.'}`))
  return { trouble, files, quarantined, byCause, byPlace }
}

function shown({ trouble, quarantined }: Found): ShownProblem {
  const { mirror, root, path, code, isSetAside } = trouble
  const ignoreLine = path === '' || code === 'name-not-utf8' ? null : patternOfPath(path)
  const content = quarantined && describeContent(quarantined)
  const canSetAside = !isSetAside && (content !== null || canBeSetAside(code))
  const ways = { ignoreLine, command: commandFor(trouble), isSetAside, canSetAside }
  return { mirror, root, path, code, cause: causeOf(trouble), content, ...ways }
}

function describeContent(quarantined: Quarantined): ShownProblem['content'] {
  const { contentId, stage, resourceId, tries, since, retryAt, files } = quarantined
  const copies = files.slice(1, 1 + MAX_COPIES).map(({ mirror, path }) => `${mirror}: ${path}`)
  const moreCopies = files.length - 1 - copies.length
  return { contentId, stage, resourceId, tries, since, retryAt, copies, moreCopies }
}

function commandFor({ root, path, code }: Trouble): string | null {
  if (process.platform === 'win32' || !['EACCES', 'EPERM', 'unreadable'].includes(code)) return null
  return `chmod u+rX ${shellWord(path === '' ? root : `${root}/${path}`)}`
}
