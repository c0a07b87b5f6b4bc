import { MAX_PUBLISHED, type Published, type PublishedMirror, type PublishedProblem } from '../published.ts'
import { boundText } from './encoding.ts'

/** The largest sizes that the tables accept. */
const MAX_BYTES = { state: 4_096, problem: 12_288, run: 8_192 }
const MAX_TEXT = 500

export function encodePublished({ sentInDay, mirrors, problems, runs }: Published): unknown[] {
  const states = mirrors.slice(0, MAX_PUBLISHED.mirrors).flatMap((mirror) => {
    const text = textWithin(boundMirror(mirror), MAX_BYTES.state)
    return text === undefined ? [] : [{ ...mirror, text }]
  })
  const shown = problems && [...numberProblems(problems)].slice(0, MAX_PUBLISHED.problemsInAll)
  const past = runs?.slice(0, MAX_PUBLISHED.runs).flatMap((run) => {
    const text = textWithin(run, MAX_BYTES.run) ?? textWithin({ ...run, mirrors: [] }, MAX_BYTES.run)
    return text === undefined ? [] : [{ startedMs: Date.parse(run.startedAt), text }]
  })
  return [
    sentInDay,
    states.map(({ name }) => boundText(name)),
    states.map(({ state }) => state.sign),
    states.map(({ queue }) => queue.contents),
    states.map((mirror) => mirror.problems),
    states.map(({ text }) => text),
    shown?.map(({ mirror }) => boundText(mirror)),
    shown?.map(({ nth }) => nth),
    shown?.map(({ content }) => content && Buffer.from(content.sha256, 'hex')),
    shown?.map(({ text }) => text),
    past?.map(({ startedMs }) => startedMs),
    past?.map(({ text }) => text),
  ]
}

function* numberProblems(problems: readonly PublishedProblem[]) {
  const last = new Map<string, number>()
  for (const problem of problems) {
    const nth = (last.get(problem.mirror) ?? 0) + 1
    const text = textWithin({ ...problem, message: boundText(problem.message) }, MAX_BYTES.problem)
    if (nth > MAX_PUBLISHED.problems || text === undefined) continue
    last.set(problem.mirror, nth)
    yield { ...problem, nth, text }
  }
}

function boundMirror({ state, path, ...mirror }: PublishedMirror): PublishedMirror {
  const isLong = path !== null && Buffer.byteLength(path) > MAX_TEXT
  return { ...mirror, path: isLong ? boundText(path) : path, state: { ...state, text: boundText(state.text) } }
}

/** JSON escapes NUL and halves of pairs, and may hold any other character. */
function textWithin(value: object, mostBytes: number): string | undefined {
  const text = JSON.stringify(value)
  return Buffer.byteLength(text) <= mostBytes ? text : undefined
}
