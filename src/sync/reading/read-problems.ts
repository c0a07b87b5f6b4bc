import type { ProblemCount, ProblemsInput, ProblemsPage, ShownProblem } from '../../contract/dashboard.ts'
import { ROWS_A_PAGE } from '../../contract/dashboard-addresses.ts'
import { shellWord } from '../../foundation/text/safe-text.ts'
import { patternOfPath } from '../../local/ignore/ignore-rule.ts'
import { causeOf, commonCauseOf, directoryOf } from '../../rules/problem-groups.ts'
import type { StoreReader } from '../../store/open-store.ts'
import { listQuarantine, type Quarantined } from '../quarantine.ts'

const MOST_COPIES = 5
const MOST_PLACES = 8
const MOST_CONTENTS = 10_000

interface Found extends ShownProblem {
  /** The keys of its groups. */
  readonly byCause: string
  readonly byPlace: string
}

/** Answers a page of what failed and of paths that could not be read; what was set aside comes last. */
export function readProblems(store: StoreReader | undefined, input: ProblemsInput): ProblemsPage {
  const text = input.text.toLowerCase()
  const named = (store ? listProblems(store) : []).filter(({ path }) => path.toLowerCase().includes(text))
  const ofCause = named.filter(({ byCause }) => input.cause === '' || byCause === input.cause)
  const ofPlace = named.filter(({ byPlace }) => input.place === '' || byPlace === input.place)
  const found = ofCause.filter(({ byPlace }) => input.place === '' || byPlace === input.place)
  const open = found.filter(({ content }) => !content?.isSetAside)
  const places = countBy(ofCause, ({ byPlace }) => byPlace)
  return {
    total: found.length,
    setAside: found.length - open.length,
    causes: countBy(ofPlace, ({ byCause }) => byCause),
    places: places.slice(0, MOST_PLACES),
    morePlaces: Math.max(0, places.length - MOST_PLACES),
    problems: [...open, ...found.filter(({ content }) => content?.isSetAside)]
      .slice(input.offset, input.offset + ROWS_A_PAGE)
      .map(({ byCause: _, byPlace: __, ...problem }) => problem),
    contentIds: open.flatMap(({ content }) => content?.contentId ?? []).slice(0, MOST_CONTENTS),
  }
}

function countBy(problems: readonly Found[], keyOf: (problem: Found) => string): ProblemCount[] {
  return [...Map.groupBy(problems, keyOf)]
    .map(([key, { length }]) => ({ key, count: length }))
    .sort((a, b) => b.count - a.count)
}

function listProblems(store: StoreReader): Found[] {
  const paths = store.mirrors.list().flatMap(({ id, name, path: root }) => {
    return store.problems.list(id).map((problem) => shown({ mirror: name, root, ...problem }, null))
  })
  return [...listQuarantine(store).flatMap(contentProblem), ...paths]
}

function contentProblem(quarantined: Quarantined): Found[] {
  const { code, message, contentId, stage, resourceId, tries, since, retryAt, isSetAside, files } = quarantined
  const [first, ...others] = files
  if (!first) return []
  const copies = others.slice(0, MOST_COPIES).map(({ mirror, path }) => `${mirror}: ${path}`)
  const moreCopies = others.length - copies.length
  const content = { contentId, stage, resourceId, tries, since, retryAt, isSetAside, copies, moreCopies }
  return [shown({ ...first, code, message }, content)]
}

interface Trouble {
  readonly mirror: string
  readonly root: string
  readonly path: string
  readonly code: string
  readonly message: string
}

function shown(trouble: Trouble, content: ShownProblem['content']): Found {
  const { mirror, root, path, code } = trouble
  const ignoreLine = path === '' || code === 'name-not-utf8' ? null : patternOfPath(path)
  return {
    ...{ mirror, root, path, code, cause: causeOf(trouble), content, ignoreLine },
    command: commandFor(trouble),
    byCause: `${commonCauseOf(trouble)} [${code}]`,
    byPlace: `${mirror}: ${directoryOf(path) || '.'}`,
  }
}

function commandFor({ root, path, code }: Trouble): string | null {
  if (process.platform === 'win32' || !['EACCES', 'EPERM', 'unreadable'].includes(code)) return null
  return `chmod u+rX ${shellWord(path === '' ? root : `${root}/${path}`)}`
}
