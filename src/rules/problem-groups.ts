import { parentOf } from '../foundation/files/paths.ts'
import { counted, escapeText } from '../foundation/text/safe-text.ts'
import { describeInDoubt, IN_DOUBT } from './doubts.ts'

/** `path` is relative to the mirror's directory, and empty for that directory. */
export interface PathProblem {
  readonly path: string
  readonly code: string
  readonly message: string
}

/** Returns the problem of a content that failed, or whose upload is in doubt. */
export function problemOfContent({ path, state, problemCode, problemMessage }: TroubledContent): PathProblem {
  if (problemCode === null || state === 'sending') return { path, ...IN_DOUBT }
  return { path, code: problemCode, message: problemMessage ?? problemCode }
}

interface TroubledContent {
  readonly path: string
  readonly state: string
  readonly problemCode: string | null
  readonly problemMessage: string | null
}

export interface ProblemGroup<Problem extends PathProblem> {
  readonly code: string
  /** The message without the path; in a group of several also without sizes in parentheses. */
  readonly cause: string
  readonly problems: readonly Problem[]
}

/** How many paths or directories the line of a group names. */
const MAX_NAMED = 3

/** Returns the message without the path, such as `cannot be read: permission denied`. */
export function causeOf({ path, message }: PathProblem): string {
  const quoted = `"${escapeText(path === '' ? '.' : path)}"`
  const reading = `Cannot read ${quoted}`
  if (message.startsWith(reading)) return `cannot be read${message.slice(reading.length)}`
  return message.replaceAll(quoted, 'it')
}

/** Groups problems by their cause and the value of `also`; the groups are in the order of their first problems. */
export function groupProblems<Problem extends PathProblem>(
  problems: readonly Problem[],
  also: (problem: Problem) => unknown = () => '',
): ProblemGroup<Problem>[] {
  const groups = Map.groupBy(problems, (problem) =>
    JSON.stringify([problem.code, commonCauseOf(problem), also(problem) ?? null]),
  )
  return [...groups.values()].flatMap(([first, ...others]) => {
    if (!first) return []
    const common = commonCauseOf(first)
    const ofSeveral = common === IN_DOUBT.message ? describeInDoubt(1 + others.length) : common
    const cause = others.length === 0 ? causeOf(first) : ofSeveral
    return [{ code: first.code, cause, problems: [first, ...others] }]
  })
}

/** Returns the cause without numbers in parentheses, such as sizes. */
export function commonCauseOf(problem: PathProblem): string {
  return causeOf(problem).replaceAll(/ \([^()]*\d[^()]*\)/g, '')
}

/** Describes a group in one line: its cause, `suffix`, and its paths, or the directories of many paths. */
export function describeGroup<Problem extends PathProblem>(
  { code, cause, problems }: ProblemGroup<Problem>,
  suffix = '',
): string {
  const fault = `${escapeText(cause)} [${code}]${suffix}`
  const paths = problems.map(({ path }) => escapeText(path) || '.')
  if (paths.length === 1) return `${paths.join('')}: ${fault}`
  const where = paths.length > MAX_NAMED ? describeDirectories(problems) : paths.join(', ')
  return `${counted(paths.length, 'file')}: ${fault}: ${where}`
}

function describeDirectories(problems: readonly PathProblem[]): string {
  const directories = [...Map.groupBy(problems, ({ path }) => parentOf(path))].sort(
    ([, one], [, other]) => other.length - one.length,
  )
  const named = directories.slice(0, MAX_NAMED)
  const others = directories.slice(MAX_NAMED)
  const parts = named.map(([directory, inside]) => `${inside.length} in ${escapeText(directory) || '.'}/`)
  if (others.length === 0) return parts.join(', ')
  const more = others.reduce((sum, [, inside]) => sum + inside.length, 0)
  return `${parts.join(', ')}, ${more} in ${counted(others.length, 'more directory', 'more directories')}`
}
